"""What a file is by its first bytes, whatever its name says, and what to do."""

from __future__ import annotations

import zipfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from fdgcl._checks import InputError
from fdgcl.graphs.files.encodings import describe_text

_HEAD_BYTES = 1 << 16


@dataclass(frozen=True)
class Description:
    """What a file is.

    Attributes:
        kind: One word for it: `gzip`, `parquet`, `excel`, `utf-16`, `text`, ...
        what: The same for people: "an Excel workbook".
        remedy: What to do where it cannot be read, after a colon.
    """

    kind: str
    what: str
    remedy: str


#: Text in UTF-8, which may be a table.
TEXT = Description("text", "text", "its name must end so, in .csv, .tsv or .txt")
_CONVERT = "convert it to CSV or Parquet first"
_SHEET = "save the sheet as CSV or Parquet"
_UNPACK = "unpack it first"
_TORCH = "save the matrix in it by numpy.save(file, tensor.numpy()) as .npy"
_PICKLE = (
    "loading it may run any code, so fdgcl does not; save what is in it as Parquet, "
    "CSV or .npy"
)
_NO_TABLE = "a table or a matrix is expected"
_NAMED = "if that is meant, its name must end in {suffix}"
_MATLAB = "save the matrix in it by numpy.save as .npy, read by scipy.io.loadmat"


def _by(suffix: str, program: str) -> str:
    return f"let its name end in {suffix}, or unpack it with {program}"


#: What files begin with. Longer ones come before those that they begin with.
_MAGIC: tuple[tuple[bytes, Description], ...] = (
    (
        b"PAR1",
        Description("parquet", "a Parquet file", _NAMED.format(suffix=".parquet")),
    ),
    (b"PARE", Description("encrypted", "an encrypted Parquet file", "decrypt it")),
    (b"ARROW1\0\0", Description("arrow", "an Arrow (Feather) file", _CONVERT)),
    (b"FEA1", Description("feather", "a Feather file of version 1", _CONVERT)),
    (b"\xff\xff\xff\xff", Description("arrow-stream", "an Arrow stream", _CONVERT)),
    (b"\x93NUMPY", Description("npy", "a NumPy array", _NAMED.format(suffix=".npy"))),
    (b"\x1f\x8b", Description("gzip", "packed by gzip", _by(".gz", "gunzip"))),
    (b"BZh", Description("bz2", "packed by bzip2", _by(".bz2", "bunzip2"))),
    (
        b"\x28\xb5\x2f\xfd",
        Description("zstd", "packed by Zstandard", _by(".zst", "unzstd")),
    ),
    (b"\x04\x22\x4d\x18", Description("lz4", "packed by LZ4", _by(".lz4", "unlz4"))),
    (b"\xfd7zXZ\0", Description("xz", "packed by xz", "unpack it with unxz")),
    (b"7z\xbc\xaf\x27\x1c", Description("7z", "a 7z archive", _UNPACK)),
    (b"Rar!\x1a\x07", Description("rar", "a RAR archive", _UNPACK)),
    (b"\x1f\x9d", Description("compress", "packed by compress", _UNPACK)),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        Description(
            "excel", "an Excel workbook (.xls) or another old document", _SHEET
        ),
    ),
    (
        b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19",
        Description("torch", "what torch.save wrote", _TORCH),
    ),
    *(
        (bytes([0x80, n]), Description("pickle", "a Python pickle", _PICKLE))
        for n in range(2, 6)
    ),
    (b"ccopy_reg\n", Description("pickle", "a Python pickle", _PICKLE)),
    *(
        (start, Description("zlib", "packed by zlib (joblib does so)", _PICKLE))
        for start in (b"x\x01", b"x\x9c", b"x\xda")
    ),
    (b"MATLAB 5.0 MAT-file", Description("matlab", "a MATLAB file", _MATLAB)),
    (
        b"MATLAB 7.3 MAT-file",
        Description(
            "matlab",
            "a MATLAB file (HDF5)",
            _MATLAB.replace("scipy.io.loadmat", "h5py"),
        ),
    ),
    (b"\x89HDF\r\n\x1a\n", Description("hdf5", "an HDF5 file", _CONVERT)),
    (b"CDF\x01", Description("netcdf", "a NetCDF file", _CONVERT)),
    (b"CDF\x02", Description("netcdf", "a NetCDF file", _CONVERT)),
    (
        b"SQLite format 3\0",
        Description(
            "sqlite",
            "a SQLite database",
            "write its table as CSV, with sqlite3 -header -csv FILE 'select ...'",
        ),
    ),
    (b"ORC", Description("orc", "an ORC file", _CONVERT)),
    (b"Obj\x01", Description("avro", "an Avro file", _CONVERT)),
    (b"RDX2\n", Description("r", "an R workspace", _CONVERT)),
    (b"RDX3\n", Description("r", "an R workspace", _CONVERT)),
    (b"<stata_dta>", Description("stata", "a Stata file", _CONVERT)),
    (b"$FL2@(#)", Description("spss", "an SPSS file", _CONVERT)),
    (b"%PDF-", Description("pdf", "a PDF document", _NO_TABLE)),
    (b"\x89PNG\r\n", Description("image", "an image (PNG)", _NO_TABLE)),
    (b"\xff\xd8\xff", Description("image", "an image (JPEG)", _NO_TABLE)),
    (b"GIF87a", Description("image", "an image (GIF)", _NO_TABLE)),
    (b"GIF89a", Description("image", "an image (GIF)", _NO_TABLE)),
    (b"II*\0", Description("image", "an image (TIFF)", _NO_TABLE)),
    (b"MM\0*", Description("image", "an image (TIFF)", _NO_TABLE)),
    (b"\x7fELF", Description("program", "a program (ELF)", _NO_TABLE)),
)
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_ZIP_ARCHIVE = Description("zip", "a zip archive", "unpack it with unzip")
_NPZ = Description("npz", "a NumPy archive", _NAMED.format(suffix=".npz"))
_ODS = Description("ods", "an OpenDocument spreadsheet", _SHEET)
_XLSX = Description("excel", "an Excel workbook", _SHEET)
_TORCH_ZIP = Description("torch", "what torch.save wrote", _TORCH)
_TAR = Description("tar", "a tar archive", "unpack it with tar -xf")
_SAFETENSORS = Description("safetensors", "a safetensors file", _CONVERT)
_RIFF = Description("image", "an image or a sound (RIFF)", _NO_TABLE)
_DUCKDB = Description("duckdb", "a DuckDB database", "write its table as Parquet")


def describe_signature(path: Path) -> Description | None:
    """What a file is by its first bytes; None where nothing is known of such bytes.

    Raises:
        OSError: The file cannot be read.
    """
    with path.open("rb") as stream:
        head = stream.read(_HEAD_BYTES)
    if head.startswith(_ZIP):
        return _describe_zip(path)
    return describe_bytes(head)


def describe_bytes(head: bytes) -> Description | None:
    """What a file is that begins with these bytes."""
    for start, description in _MAGIC:
        if head.startswith(start) and _is_certain(head, description):
            return description
    if head.startswith(_ZIP):
        return _ZIP_ARCHIVE
    return _describe_inside(head) or _describe_text(head)


def refuse_foreign(path: Path, expected: Collection[str], wanted: str = "") -> None:
    """Refuse a file that is something else than expected, and say what to do.

    Args:
        path: A file that is there.
        expected: The kinds that can be read here. What is not known is not refused.
        wanted: What it should be, where that is one thing: "a Parquet file".

    Raises:
        InputError: It is of another kind.
    """
    try:
        found = describe_signature(path)
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise InputError(message) from error
    _refuse(f"{path} is not {wanted} but" if wanted else f"{path} is", found, expected)


def refuse_foreign_bytes(path: Path, head: bytes, expected: Collection[str]) -> None:
    """Refuse what a packed file holds, by its first bytes; see `refuse_foreign`."""
    _refuse(f"{path}, once unpacked, is", describe_bytes(head[:_HEAD_BYTES]), expected)


def _refuse(
    sentence: str, found: Description | None, expected: Collection[str]
) -> None:
    if found is not None and found.kind not in expected:
        message = f"{sentence} {found.what}: {found.remedy}"
        raise InputError(message)


def _is_certain(head: bytes, description: Description) -> bool:
    """Whether a short beginning, which text may have as well, is what it seems."""
    if description.kind == "bz2":
        return head[4:10] == b"1AY&SY"
    if description.kind == "orc":
        return b"\0" in head
    return True


def _describe_inside(head: bytes) -> Description | None:
    """By what stands a little after the beginning."""
    if head[257:262] == b"ustar":
        return _TAR
    if head[:4] == b"RIFF" and b"\0" in head[:64]:
        return _RIFF
    if head[8:12] == b"DUCK":
        return _DUCKDB
    # The length of the header that follows, in eight bytes.
    if head[8:10] == b'{"' and head[5:8] == b"\0\0\0":
        return _SAFETENSORS
    return None


def _describe_zip(path: Path) -> Description:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return Description("zip", "a damaged zip archive", "it is cut off, or changed")
    if names and all(name.endswith(".npy") for name in names):
        return _NPZ
    if any(name.startswith("xl/") for name in names):
        return _XLSX
    if "mimetype" in names and "content.xml" in names:
        return _ODS
    if any(name.endswith("/data.pkl") for name in names):
        return _TORCH_ZIP
    return _ZIP_ARCHIVE


def _describe_text(head: bytes) -> Description | None:
    found = describe_text(head)
    if found is None:
        return TEXT if head else None
    return Description(*found)
