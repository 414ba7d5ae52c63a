// Reads torch.save archives as documents: data.pkl as a value tree, and where the storages lie.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "model/checkpoint_data.h"

namespace fsdpckpt {

/// Reads the archive that fills `extent` of `files` (torch_zip, or torch_zip_zstd, which is decoded into memory: at
/// most kMaxDecodedDocument bytes, and no more than its compressed size justifies). `name` is for messages. Throws
/// Error(input) with the path when it is no such archive, or its pickle has another checksum than is stored.
std::shared_ptr<const Document> read_document(const FileSet& files, const Extent& extent, const std::string& name);

/// The same from a source that holds just the archive; storages get places in file `file`, the archive at its start.
/// Errors do not name a path.
std::shared_ptr<const Document> read_document(const Source& archive, FileId file);

inline constexpr std::uint64_t kMaxDecodedDocument = 256ULL << 20;

/// The value of an object entry: read from its extent (copy `copy` of several), or the part of a document it is.
DocumentPart read_object(const Checkpoint::Data& checkpoint, EntryId entry, std::uint64_t copy = 0);

}  // namespace fsdpckpt
