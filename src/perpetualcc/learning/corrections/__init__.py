"""
Was the assistant corrected, should it last, what is the rule? Without a model, in 17 languages.

text → language → sentences → grammatical features, meanings in their order → a weighed decision →
one short rule.
"""

from perpetualcc.learning.corrections.classifier import classify
from perpetualcc.learning.corrections.judgement import Category, Judgement, Scope

__all__ = ["Category", "Judgement", "Scope", "classify"]
