#include "formats/document.h"

#include <fsdpckpt/error.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "io/byte_reader.h"
#include "io/crc32.h"
#include "pickle/machine.h"
#include "zip/directory.h"

namespace fsdpckpt {
namespace {

constexpr std::string_view kDataFolder = "data/";
constexpr std::uint64_t kWindow = 64 << 10;
constexpr std::uint64_t kMaxGrowth = 100;            ///< times, of a compressed object
constexpr std::uint64_t kAlwaysDecoded = 64U << 20;  ///< bytes, however small it was

/// Every byte of a compressed stream, as far as a few bytes may grow (rule X12).
std::vector<std::byte> decode_all(const Source& compressed) {
  const std::uint64_t justified = kMaxGrowth * std::min(compressed.size(), kMaxDecodedDocument);
  const std::uint64_t most = std::clamp(justified, kAlwaysDecoded, kMaxDecodedDocument);
  ZstdReader reader(compressed);
  std::vector<std::byte> bytes;
  while (!reader.at_end()) {
    if (bytes.size() == most)
      throw Error(ErrorKind::input,
                  cat("a compressed object of ", compressed.size(), " bytes is larger than ", most >> 20, " MiB"));
    bytes.push_back(reader.next());
  }
  return bytes;
}

/// The byteorder record (absent before torch 2.1) must say little: big-endian data would be copied wrongly (rule Z9).
void check_byte_order(const Source& archive, const zip::Directory& directory) {
  const zip::Record* record = directory.find("byteorder");
  if (record == nullptr || record->size > 16) return;
  std::array<std::byte, 16> text{};
  archive.read_at(record->data, MutableBytes(text).first(record->size));
  if (as_text(Bytes(text).first(record->size)) != "little")
    throw Error(ErrorKind::input, "unsupported byte order: the file was written on a big-endian machine");
}

void read_archive(const Source& archive, const Extent& extent, Document& document) {
  zip::Directory directory;
  directory.read(archive);
  if (directory.find("constants.pkl") != nullptr) {  // torch.jit.save has it, torch.save has not
    throw Error(ErrorKind::input, "a TorchScript archive, not a state dict", {},
                "load it with torch.jit.load and save its state_dict() with torch.save");
  }
  check_byte_order(archive, directory);
  const zip::Record* pickled = directory.find("data.pkl");
  if (pickled == nullptr) throw Error(ErrorKind::input, "no data.pkl in the archive: not written by torch.save");
  // A flipped bit in a pickle mostly makes another valid pickle: other strides, other numbers.
  zip::require_checksum(*pickled, crc32_of(archive, pickled->data, pickled->size));
  document.root = pickle::Machine().read(SliceSource(archive, pickled->data, pickled->size), document.values);
  document.has_byteorder = directory.find("byteorder") != nullptr;
  document.has_serialization_id = directory.find(".data/serialization_id") != nullptr;
  document.has_format_version = directory.find(".format_version") != nullptr;
  const std::size_t folder = directory.prefix().size() + 1;
  for (const zip::Record& record : directory.records()) {
    const std::string_view name = record.name.substr(std::min(folder, record.name.size()));
    if (!name.starts_with(kDataFolder)) continue;
    StoredStorage storage{.extent = extent, .size = record.size, .crc = record.crc};
    if (extent.encoding == Encoding::torch_zip_zstd)
      storage.skip = record.data;
    else
      storage.extent = {.file = extent.file,
                        .encoding = Encoding::plain,
                        .offset = extent.offset + record.data,
                        .length = record.size};
    document.storages.emplace(name.substr(kDataFolder.size()), storage);
  }
}

}  // namespace

std::shared_ptr<const Document> read_document(const FileSet& files, const Extent& extent, const std::string& name) {
  auto document = std::make_shared<Document>();
  document->name = name;
  document->size = extent.length;
  try {
    const auto file = files.source(extent.file);
    const SliceSource item(*file, extent.offset, extent.length);
    if (extent.encoding == Encoding::torch_zip_zstd) {
      const std::vector<std::byte> decoded = decode_all(item);
      read_archive(MemorySource(decoded, cat(name, " (decoded)")), extent, *document);
    } else {
      read_archive(EndsCachedSource(item, std::min(kWindow, std::max<std::uint64_t>(extent.length / 2, 1))), extent,
                   *document);
    }
  } catch (Error& error) {
    throw error.in_path(files.path(extent.file));
  }
  return document;
}

std::shared_ptr<const Document> read_document(const Source& archive, FileId file) {
  auto document = std::make_shared<Document>();
  document->name = archive.name();
  document->size = archive.size();
  read_archive(archive, {.file = file, .length = archive.size()}, *document);
  return document;
}

DocumentPart read_object(const Checkpoint::Data& checkpoint, EntryId entry, std::uint64_t copy) {
  if (const auto part = checkpoint.parts.find(entry); part != checkpoint.parts.end()) return part->second;
  const Entry object = checkpoint.index.entry(entry);
  const Chunk chunk = checkpoint.index.chunk(entry, copy);
  if (!chunk.is_stored) throw Error(ErrorKind::input, "the object is in no file", {.entry = std::string(object.name)});
  try {
    auto document = read_document(*checkpoint.file_set, chunk.extent, checkpoint.file_set->path(chunk.extent.file));
    const pickle::NodeId root = document->root;
    return {.document = std::move(document), .node = root};
  } catch (Error& error) {
    throw error.in_entry(std::string(object.name));
  }
}

}  // namespace fsdpckpt
