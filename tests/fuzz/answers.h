// What is read of an input, as one text: two inputs with the same answer are the same checkpoint.
#pragma once

#include <string>
#include <string_view>

namespace fsdpckpt::fuzz {

/// A file, which must be there and not empty.
std::string content_of(const std::string& path);

/// Index, nesting and coverage of `metadata` as the .metadata of `directory`. Throws what reading throws.
std::string metadata_answer(const std::string& directory, std::string_view metadata);

/// Index, nesting and objects of a torch file. Its elements are never read: it is what consolidating would make.
std::string torch_file_answer(std::string_view file);

/// The elements of a tensor item, as they are copied into an output, and what is known of them.
std::string item_answer(std::string_view item);

}  // namespace fsdpckpt::fuzz
