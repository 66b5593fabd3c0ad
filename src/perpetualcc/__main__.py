"""`python -m perpetualcc` is `pcc`."""

from perpetualcc.cli.entry import main

if __name__ == "__main__":
    main()
