// Checkpoints without files, for tests of what is said about them.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "model/checkpoint_data.h"

namespace fsdpckpt {

using Numbers = std::vector<std::int64_t>;

struct Box {
  Numbers offsets, sizes;
};

/// Adds a tensor cut into `boxes`, at the top of the tree or under `path`.
inline EntryId add_tensor(Checkpoint& checkpoint, std::string_view name, const Numbers& shape,
                          const std::vector<Box>& boxes, DType dtype = DType::float32, std::vector<Key> path = {}) {
  Checkpoint::Data& data = checkpoint.data();
  const std::uint32_t first = data.index.next_box();
  for (const Box& box : boxes) data.index.add_box(box.offsets, box.sizes);
  const EntryId id = data.index.add_tensor(name, dtype, shape, first, static_cast<std::uint32_t>(boxes.size()));
  if (path.empty()) path = {{.text = name}};
  data.tree.insert(path, id);
  return id;
}

/// A tensor in one chunk.
inline EntryId add_whole(Checkpoint& checkpoint, std::string_view name, const Numbers& shape,
                         DType dtype = DType::float32, std::vector<Key> path = {}) {
  return add_tensor(checkpoint, name, shape, {{Numbers(shape.size(), 0), shape}}, dtype, std::move(path));
}

inline EntryId add_object(Checkpoint& checkpoint, std::string_view name, std::vector<Key> path = {}) {
  const EntryId id = checkpoint.data().index.add_object(name);
  if (path.empty()) path = {{.text = name}};
  checkpoint.data().tree.insert(path, id);
  return id;
}

}  // namespace fsdpckpt
