"""Files of texts: one module per format. What is not private keeps its bytes."""

from sottovoce.anonymise.text.files.blocks import Block
from sottovoce.anonymise.text.files.formats import FORMATS, TextFile, open_text_file
from sottovoce.anonymise.text.files.options import ReadingOptions

__all__ = ["FORMATS", "Block", "ReadingOptions", "TextFile", "open_text_file"]
