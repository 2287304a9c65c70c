"""Names of the NumPy arrays that kernels compute with."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

#: Positions of rows or bytes.
Indices: TypeAlias = npt.NDArray[np.int64]
#: Values: decoded integers, times, codes.
Numbers: TypeAlias = npt.NDArray[np.int64]
#: Which rows of several.
Mask: TypeAlias = npt.NDArray[np.bool_]
#: Raw bytes, in one or two dimensions.
Bytes: TypeAlias = npt.NDArray[np.uint8]
#: Hashes of 32 bits.
Words: TypeAlias = npt.NDArray[np.uint32]
