#include "formats/recognise_file.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "base/text.h"
#include "zip/directory.h"

namespace fsdpckpt {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t kHeadBytes = 512;              ///< a tar header is one block of that size
constexpr std::uint64_t kTailBytes = 22 + 0xffff;      ///< a zip end record with the longest comment
constexpr std::uint64_t kLargestHeader = 100'000'000;  ///< of safetensors
constexpr std::size_t kZipNameAt = 30;                 ///< in a local header

struct Ends {
  std::uint64_t size = 0;
  std::string head, tail;
};

Ends ends_of(const FileSet& files, FileId file) {
  Ends ends{.size = files.size(file), .head = {}, .tail = {}};
  const auto read = [&](std::string& to, std::uint64_t offset, std::uint64_t length) {
    to.resize(length);
    files.read_at(file, offset, std::as_writable_bytes(std::span(to)));
  };
  read(ends.head, 0, std::min(ends.size, kHeadBytes));
  const std::uint64_t tail = std::min(ends.size, kTailBytes);
  read(ends.tail, ends.size - tail, tail);
  return ends;
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

template <const std::string_view& Magic>
bool starts_with(const Ends& ends) {
  return ends.head.starts_with(Magic);
}

bool is_all(std::string_view bytes, char value) { return bytes.find_first_not_of(value) == std::string_view::npos; }

bool is_empty(const Ends& ends) { return ends.size == 0; }

bool is_zeros(const Ends& ends) { return ends.size > 0 && is_all(ends.head, '\0') && is_all(ends.tail, '\0'); }

bool is_web_page(const Ends& ends) {
  std::string start = ends.head.substr(std::min(ends.head.size(), ends.head.find_first_not_of(" \t\r\n\xef\xbb\xbf")));
  std::ranges::transform(start, start.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 32) : c; });
  return start.starts_with("<!doctype html") || start.starts_with("<html");
}

bool is_tar(const Ends& ends) { return ends.head.size() > 262 && ends.head.substr(257, 5) == "ustar"; }

/// The members of torch.save's first form (torch/serialization.py, legacy_load).
bool is_torch_tar(const Ends& ends) {
  constexpr std::array kMembers = {"sys_info\0"sv, "pickle\0"sv, "storages\0"sv, "tensors\0"sv};
  return is_tar(ends) &&
         std::ranges::any_of(kMembers, [&](std::string_view name) { return ends.head.starts_with(name); });
}

bool is_safetensors(const Ends& ends) {
  if (ends.head.size() < 10 || ends.head[8] != '{') return false;
  const std::uint64_t header = little_endian(std::string_view(ends.head).substr(0, 8));
  return header >= 2 && header <= kLargestHeader;
}

/// Protocols 2 to 5: only they start with their number.
bool is_pickle(const Ends& ends) {
  return ends.head.size() >= 2 && ends.head[0] == '\x80' && ends.head[1] >= 2 && ends.head[1] <= 5;
}

bool is_metadata(const Ends& ends) {
  return is_pickle(ends) && ends.head.find("torch.distributed.checkpoint.metadata") != std::string::npos;
}

bool is_text(const Ends& ends) {
  return !ends.head.empty() && std::ranges::all_of(ends.head, [](char c) {
    return (c >= ' ' && c <= '~') || c == '\n' || c == '\r' || c == '\t';
  });
}

/// Its end record closes the file, whatever it starts with.
bool ends_like_zip(const Ends& ends) {
  for (std::size_t at = ends.tail.rfind("PK\5\6"); at != std::string::npos && at + 22 <= ends.tail.size();) {
    if (at + 22 + little_endian(std::string_view(ends.tail).substr(at + 20, 2)) == ends.tail.size()) return true;
    if (at == 0) break;
    at = ends.tail.rfind("PK\5\6", at - 1);
  }
  return false;
}

/// torch.save's first pickle before PyTorch 1.6: protocol 2, then a long integer that is its magic number.
constexpr std::string_view kLegacyTorch = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"sv;
constexpr std::string_view kLfsPointer = "version https://git-lfs."sv;
constexpr std::string_view kGzip = "\x1f\x8b"sv, kZstd = "\x28\xb5\x2f\xfd"sv, kXz = "\xfd\x37zXZ\0"sv,
                           kBzip2 = "BZh"sv, kLz4 = "\x04\x22\x4d\x18"sv;
constexpr std::string_view kHdf5 = "\x89HDF\r\n\x1a\n"sv, kGguf = "GGUF"sv, kNumpy = "\x93NUMPY"sv;

constexpr std::string_view kUnpack = ", of which fsdpckpt reads what is in it";
constexpr std::string_view kSaveAgain = "load it with PyTorch and save it again with torch.save";

/// `what` is the name of the thing, `more` follows it in the message; in `hint`, @ stands for the path as a shell word.
struct Row {
  bool (*is)(const Ends&);
  std::string_view what, more, hint;
};

/// What becomes of files on their way. The first row that fits is told.
constexpr std::array kSpoiled = {
    Row{is_zeros, "zeros", " at the start and the end: room was made for the file, and it was never written",
        "copy the file again, or use an earlier checkpoint"},
    Row{starts_with<kLfsPointer>, "a Git LFS pointer", ": the file itself was not downloaded", "git lfs pull"},
    Row{is_web_page, "a web page", ", saved under the name of the file", "download the file again"},
    Row{starts_with<kGzip>, "a file compressed with gzip", kUnpack, "gzip -dc @ > FILE"},
    Row{starts_with<kZstd>, "a file compressed with zstd", kUnpack, "zstd -dc @ > FILE"},
    Row{starts_with<kXz>, "a file compressed with xz", kUnpack, "xz -dc @ > FILE"},
    Row{starts_with<kBzip2>, "a file compressed with bzip2", kUnpack, "bzip2 -dc @ > FILE"},
    Row{starts_with<kLz4>, "a file compressed with lz4", kUnpack, "lz4 -dc @ > FILE"},
};

/// Other formats. The first row that fits is told.
constexpr std::array kFormats = {
    Row{is_empty, "an empty file", ": nothing was written to it", "copy the file again, or use an earlier checkpoint"},
    Row{starts_with<kLegacyTorch>, "a torch file in the form from before PyTorch 1.6", ", which fsdpckpt does not read",
        kSaveAgain},
    Row{is_torch_tar, "a torch file in the tar form of the first PyTorch releases", ", which fsdpckpt does not read",
        kSaveAgain},
    Row{is_tar, "a tar archive", kUnpack, "tar -xf @"},
    Row{is_metadata, "the metadata of a sharded checkpoint", " without its rank files",
        "give the directory in which the rank files lie"},
    Row{is_safetensors, "a safetensors file", ", which this release does not read",
        "safetensors.torch.load_file reads it; it is one file already"},
    Row{is_pickle, "a plain pickle", ", not a file of torch.save", kSaveAgain},
    Row{starts_with<kHdf5>, "an HDF5 file", ", which PyTorch does not write", ""},
    Row{starts_with<kGguf>, "a GGUF file", ", which PyTorch does not write", ""},
    Row{starts_with<kNumpy>, "a NumPy array", ", not a file of torch.save", ""},
    Row{is_text, "a text file", ", not a checkpoint", ""},
};

std::string filled(std::string_view hint, const std::string& path) {
  const std::size_t place = hint.find('@');
  if (place == std::string_view::npos) return std::string(hint);
  return cat(hint.substr(0, place), shell_word(path), hint.substr(place + 1));
}

std::optional<Error> told_by(std::span<const Row> rows, const Ends& ends, const std::string& path) {
  const auto row = std::ranges::find_if(rows, [&](const Row& candidate) { return candidate.is(ends); });
  if (row == rows.end()) return std::nullopt;
  if (ends_like_zip(ends)) {
    return Error(ErrorKind::refused,
                 cat("two formats at once: ", row->what, " at the start and a zip archive at the end"), {.path = path});
  }
  return Error(ErrorKind::input, cat(row->what, row->more), {.path = path}, filled(row->hint, path));
}

std::optional<Error> foreign_file(const Ends& ends, const std::string& path) {
  auto error = told_by(kSpoiled, ends, path);
  return error ? error : told_by(kFormats, ends, path);
}

}  // namespace

std::optional<Error> spoiled_file(const FileSet& files, FileId file, const std::string& path) {
  return told_by(kSpoiled, ends_of(files, file), path);
}

void require_archive(const FileSet& files, FileId file, const std::string& path) {
  const Ends ends = ends_of(files, file);
  if (const auto foreign = foreign_file(ends, path)) throw *foreign;
  if (zip::starts_like_zip(std::as_bytes(std::span(ends.head)).first(std::min<std::size_t>(4, ends.head.size()))) &&
      ends.size > kZipNameAt)
    return;
  const std::string_view what = ends_like_zip(ends) ? "a zip archive with other bytes in front of it"
                                                    : "the file does not start like a zip archive of torch.save";
  throw Error(ErrorKind::input, cat("not a checkpoint: ", what), {.path = path});
}

bool is_foreign_archive(const FileSet& files, FileId file) {
  const Ends ends = ends_of(files, file);
  if (ends.head.size() < kZipNameAt) return false;
  const std::string_view name =
      std::string_view(ends.head).substr(kZipNameAt, little_endian(std::string_view(ends.head).substr(26, 2)));
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return true;
  constexpr std::array kMembers = {"data.pkl"sv, "byteorder"sv, "version"sv, ".format_version"sv,
                                   ".storage_alignment"sv};
  const std::string_view member = name.substr(slash + 1);
  return !member.starts_with("data/") && !member.starts_with(".data/") &&
         std::ranges::find(kMembers, member) == kMembers.end();
}

}  // namespace fsdpckpt
