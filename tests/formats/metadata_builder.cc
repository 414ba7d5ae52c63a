#include "formats/metadata_builder.h"

#include <initializer_list>
#include <map>

#include "pickle/writer.h"

namespace fsdpckpt {
namespace {

constexpr const char* kMetadata = "torch.distributed.checkpoint.metadata";
constexpr const char* kFileSystem = "torch.distributed.checkpoint.filesystem";
constexpr const char* kOldHome = "torch.distributed._shard.sharded_tensor.metadata";

class Builder {
 public:
  Builder(const std::vector<TestEntry>& entries, const MetadataStyle& style) : entries_(entries), style_(style) {}

  std::string build() {
    begin_object(kMetadata, "Metadata");
    if (style_.storage_data_first) write_storage_data();
    write_state_dict();
    write_planner_data();
    if (!style_.storage_data_first) write_storage_data();
    if (style_.checkpoint_id != MetadataStyle::Path::none) write_storage_meta();
    if (style_.has_version) {
      out_.shared_text("version");
      out_.text("1.0.0");
    }
    end_object();
    return out_.finish();
  }

 private:
  /// NEWOBJ and the open state dict; keys and values follow.
  void begin_object(const char* module, const char* name) {
    out_.global(module, name);
    out_.empty_tuple();
    out_.new_object();
    out_.empty_dict();
    out_.mark();
  }
  void end_object() {
    out_.set_items();
    out_.build();
  }

  void size(const std::vector<std::int64_t>& numbers) {
    out_.global("torch", "Size");
    out_.mark();
    for (const std::int64_t number : numbers) out_.integer(number);
    out_.tuple_from_mark();
    out_.tuple(1);
    out_.reduce();
  }

  void memory_format() {
    const char* home = style_.old_home ? kOldHome : kMetadata;
    const char* name = style_.old_home ? "MEM_FORMAT_ENCODING" : "_MEM_FORMAT_ENCODING";
    if (style_.enums == MetadataStyle::Enum::reduce) {
      out_.global(home, name);
      out_.integer(0);
      out_.tuple(1);
    } else {
      out_.global("builtins", "getattr");
      out_.global(home, name);
      out_.text("TORCH_CONTIGUOUS_FORMAT");
      out_.tuple(2);
    }
    out_.reduce();
  }

  void properties(const std::string& dtype) {
    out_.global(style_.old_home ? kOldHome : kMetadata, "TensorProperties");
    out_.empty_tuple();
    out_.new_object();
    out_.mark();
    out_.global("torch", dtype);
    out_.global("torch.serialization", "_get_layout");
    out_.text("torch.strided");
    out_.tuple(1);
    out_.reduce();
    out_.boolean(false);
    memory_format();
    out_.boolean(false);
    if (style_.has_strides) out_.none();
    out_.tuple_from_mark();
    out_.build();
  }

  void write_tensor(const TestEntry& entry) {
    begin_object(kMetadata, "TensorStorageMetadata");
    out_.shared_text("properties");
    properties(entry.dtype);
    out_.shared_text("size");
    size(entry.shape);
    out_.shared_text("chunks");
    out_.empty_list();
    out_.mark();
    for (const TestChunk& chunk : entry.chunks) {
      begin_object(kMetadata, "ChunkStorageMetadata");
      out_.shared_text("offsets");
      size(chunk.offsets);
      out_.shared_text("sizes");
      size(chunk.sizes);
      end_object();
    }
    out_.appends();
    end_object();
  }

  void write_state_dict() {
    out_.shared_text("state_dict_metadata");
    out_.empty_dict();
    out_.mark();
    for (const TestEntry& entry : entries_) {
      out_.shared_text(entry.name);
      if (!entry.dtype.empty()) {
        write_tensor(entry);
        continue;
      }
      out_.global(kMetadata, "BytesStorageMetadata");
      out_.empty_tuple();
      out_.new_object();
    }
    out_.set_items();
  }

  void write_path(const TestEntry& entry) {
    if (entry.path.empty()) out_.shared_text(entry.name);
    for (const PathElement& element : entry.path) {
      if (const auto* text = std::get_if<std::string>(&element))
        out_.shared_text(*text);
      else
        out_.integer(std::get<std::int64_t>(element));
    }
  }

  void write_planner_data() {
    if (style_.planner == MetadataStyle::Planner::absent) return;
    out_.shared_text("planner_data");
    if (style_.planner == MetadataStyle::Planner::none) return out_.none();
    out_.empty_dict();
    out_.mark();
    for (const TestEntry& entry : entries_) {
      out_.shared_text(entry.name);
      out_.mark();
      write_path(entry);
      out_.tuple_from_mark();
    }
    out_.set_items();
  }

  void write_index(const TestEntry& entry, const TestChunk& chunk, std::int64_t position) {
    begin_object(kMetadata, "MetadataIndex");
    out_.shared_text("fqn");
    out_.shared_text(entry.name);
    out_.shared_text("index");
    if (style_.hints && !entry.dtype.empty())
      out_.integer(chunk.hint.value_or(position));
    else
      out_.none();
    if (!entry.dtype.empty()) {
      out_.shared_text("offset");
      size(chunk.key_offsets.value_or(chunk.offsets));
    }
    end_object();
  }

  void write_info(const TestChunk& chunk) {
    const std::string place = chunk.file + "@" + std::to_string(chunk.offset);
    if (const auto known = infos_.find(place); style_.shared_infos && known != infos_.end())
      return out_.get(known->second);
    begin_object(kFileSystem, "_StorageInfo");
    out_.shared_text("relative_path");
    out_.shared_text(chunk.file);
    out_.shared_text("offset");
    out_.integer(static_cast<std::int64_t>(chunk.offset));
    out_.shared_text("length");
    out_.integer(static_cast<std::int64_t>(chunk.length));
    if (!chunk.transforms.empty()) {
      out_.shared_text("transform_descriptors");
      out_.empty_list();
      out_.mark();
      for (const std::string& transform : chunk.transforms) out_.text(transform);
      out_.appends();
    }
    out_.set_items();
    out_.build();
    if (style_.shared_infos) infos_[place] = out_.put();
  }

  void write_storage_data() {
    out_.shared_text("storage_data");
    out_.empty_dict();
    out_.mark();
    for (const TestEntry& entry : entries_) {
      for (std::size_t i = 0; i < entry.chunks.size(); ++i) {
        if (!entry.chunks[i].is_stored) continue;
        write_index(entry, entry.chunks[i], static_cast<std::int64_t>(i));
        write_info(entry.chunks[i]);
      }
    }
    out_.set_items();
  }

  void write_checkpoint_id() {
    if (style_.checkpoint_id == MetadataStyle::Path::text) return out_.text("/tmp/run");
    const bool parts = style_.checkpoint_id == MetadataStyle::Path::parts;
    out_.global(parts ? "pathlib" : "pathlib._local", "PosixPath");
    out_.mark();
    if (parts) {
      for (const char* part : {"/", "tmp", "run"}) out_.text(part);
    } else {
      out_.text("/tmp/run");
    }
    out_.tuple_from_mark();
    out_.reduce();
  }

  void write_storage_meta() {
    out_.shared_text("storage_meta");
    begin_object(kMetadata, "StorageMeta");
    out_.shared_text("checkpoint_id");
    write_checkpoint_id();
    out_.shared_text("save_id");
    out_.text("1b2c");
    out_.shared_text("load_id");
    out_.none();
    end_object();
  }

  const std::vector<TestEntry>& entries_;
  const MetadataStyle& style_;
  pickle::Writer out_;
  std::map<std::string, std::uint32_t> infos_;
};

}  // namespace

std::string metadata_of(const std::vector<TestEntry>& entries, const MetadataStyle& style) {
  return Builder(entries, style).build();
}

}  // namespace fsdpckpt
