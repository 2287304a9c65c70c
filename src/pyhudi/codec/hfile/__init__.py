"""HFile version 3, the sorted file of Hudi's metadata table: its reader and its writer."""

from pyhudi.codec.hfile.data_block import CellBlock as CellBlock
from pyhudi.codec.hfile.data_block import CellPart as CellPart
from pyhudi.codec.hfile.data_block import DataBlock as DataBlock
from pyhudi.codec.hfile.reader import HFileReader as HFileReader
from pyhudi.codec.hfile.stored_block import StoredBlock as StoredBlock
from pyhudi.codec.hfile.writer import HFileWriter as HFileWriter
