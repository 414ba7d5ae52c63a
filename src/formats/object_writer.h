// Carries object entries over into the pickle of an output: judged by the object policy, rewritten in protocol 2
// without resolving a single global, their storages renumbered.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "formats/torch_writer.h"
#include "pickle/globals.h"
#include "pickle/writer.h"

namespace fsdpckpt {

class ObjectWriter {
 public:
  /// `add_storage` gives a storage of an object a record of the output and returns its key.
  using AddStorage = std::function<std::string(const StoredStorage&, EntryId)>;

  ObjectWriter(const Checkpoint::Data& checkpoint, pickle::Writer& writer, ObjectPolicy policy, bool keep_device,
               AddStorage add_storage);
  ~ObjectWriter();

  /// Writes the value of an object entry onto the pickle.
  void write(EntryId entry);
  /// What the user should know of the objects written so far.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  struct Open;  ///< a document that several entries are parts of
  void judge(const pickle::GlobalScan& scan, EntryId entry, const DocumentPart& part);
  void compare_copies(EntryId entry, const DocumentPart& first);
  void write_persistent(Open& open, EntryId entry, pickle::NodeId id);

  const Checkpoint::Data& checkpoint_;
  pickle::Writer& writer_;
  ObjectPolicy policy_;
  bool keep_device_;
  AddStorage add_storage_;
  std::map<const Document*, std::unique_ptr<Open>> open_;
  std::set<std::string> unsafe_globals_;
  std::string needs_torch_ = "2.0";
  std::vector<std::string> notes_;
};

}  // namespace fsdpckpt
