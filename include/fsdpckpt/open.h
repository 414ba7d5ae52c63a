// Opens any checkpoint that fsdpckpt reads; its kind is found by content, never by name.
#pragma once

#include <fsdpckpt/checkpoint.h>
#include <fsdpckpt/error.h>

#include <string>
#include <vector>

namespace fsdpckpt {

/// Opens a sharded directory or a torch file. Nothing in it is executed or imported; no tensor byte is read.
/// Throws Error(input) when it is missing, malformed or no checkpoint, Error(refused) when it is hostile, Error(io).
/// Files beside the metadata that are missing or cut are no errors yet: see Checkpoint::damages().
/// `files_in`: further directories for a sharded checkpoint whose files are spread, as over the disks of nodes; a file
/// that several hold must have one size.
Checkpoint open_checkpoint(const std::string& path, const std::vector<std::string>& files_in = {});

}  // namespace fsdpckpt
