"""`python -m perpetualcc` is `pcc`."""

from perpetualcc.cli.main import main

if __name__ == "__main__":
    main()
