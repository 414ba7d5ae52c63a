// What a Checkpoint holds: the index, the nesting, the files it reads from, and the pickled documents that its objects
// lie in.
#pragma once

#include <fsdpckpt/checkpoint.h>
#include <fsdpckpt/error.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "io/file_set.h"
#include "model/index.h"
#include "model/state_tree.h"
#include "pickle/value.h"

namespace fsdpckpt {

/// The bytes of one storage record of a torch.save archive.
struct StoredStorage {
  Extent extent;  ///< plain; for a compressed item: its extent, and `skip` bytes of decoded archive before the record
  std::uint64_t skip = 0;
  std::uint64_t size = 0;  ///< bytes
  std::uint32_t crc = 0;   ///< 0: no checksum
};

/// One torch.save archive as a value: its data.pkl and where its storages lie.
struct Document {
  std::string name;  ///< for messages: "ck/meta.pt"
  pickle::Values values;
  pickle::NodeId root = pickle::kNoNode;
  std::map<std::string, StoredStorage, std::less<>> storages;  ///< by storage key
  std::uint64_t size = 0;                                      ///< bytes of the archive
  /// Which of the records are there that came with one torch or another.
  bool has_byteorder = false, has_serialization_id = false, has_format_version = false;
};

/// An object entry that is a part of a larger document, as the entries of meta.pt are.
struct DocumentPart {
  std::shared_ptr<const Document> document;
  pickle::NodeId node = pickle::kNoNode;
};

/// A rank file that cannot give what the index says is in it.
struct FileProblem {
  std::string file;                ///< relative to the root
  std::uint64_t needed_bytes = 0;  ///< the end of the last item that the index places in it
  std::uint64_t actual_bytes = 0;
  bool missing = false;
  std::uint64_t entries = 0;  ///< that need what is not there
  std::string first_entry = {}, first_box = {};
  std::uint64_t first_offset = 0, first_length = 0;  ///< of its item
};

struct Checkpoint::Data {
  std::string kind;    ///< "sharded checkpoint", "torch file"
  std::string writer;  ///< "DCP as written by torch 2.9 to 2.14"
  std::string root;
  Index index;
  StateTree tree;
  std::shared_ptr<FileSet> file_set;
  std::vector<SourceFile> files;
  std::vector<SourceFile> unreferenced_files;  ///< beside the others, and of no use to this checkpoint
  std::vector<FileProblem> file_problems;
  std::vector<Error> damages;  ///< what was found wrong; converting throws the first
  std::vector<std::string> notes;
  /// By object entry: texts in its lists of parameter names, and what they become in an output.
  std::unordered_map<EntryId, std::map<std::string, std::string, std::less<>>> renamed_texts;
  std::unordered_map<EntryId, DocumentPart> parts;  ///< object entries that are no extents of their own
};

}  // namespace fsdpckpt
