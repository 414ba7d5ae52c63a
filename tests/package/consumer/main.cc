#include <fsdpckpt/open.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const fsdpckpt::Checkpoint checkpoint = fsdpckpt::open_checkpoint(argv[1]);
    for (fsdpckpt::EntryId id = 0; id < checkpoint.entry_count(); ++id) {
      const fsdpckpt::Entry entry = checkpoint.entry(id);
      std::cout << entry.name;
      if (entry.kind == fsdpckpt::EntryKind::tensor) {
        std::cout << ' ' << name(entry.dtype) << ' ' << fsdpckpt::shape_text(entry.shape);
      }
      std::cout << '\n';
    }
  } catch (const fsdpckpt::Error& error) {
    std::cerr << error.where().path << ": " << error.what() << '\n';
    return 1;
  }
}
