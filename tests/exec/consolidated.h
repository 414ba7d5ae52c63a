// Consolidates for a test and reads the result back.
#pragma once

#include <fsdpckpt/convert.h>
#include <fsdpckpt/open.h>

#include <map>
#include <string>

#include "exec/executor.h"
#include "formats/dcp_builder.h"
#include "io/temp_dir.h"

namespace fsdpckpt {

using Tensors = std::map<std::string, TensorValues>;

/// All tensors of a torch file: names, dtypes, shapes and bytes.
Tensors read_tensors(const std::string& path);
/// Names of its object entries.
std::set<std::string> object_names(const std::string& path);

/// Consolidates the directory into `out.pt` of `directory`, without syncing.
ConsolidateReport consolidate_into(const TempDir& directory, const std::string& source,
                                   ConsolidateOptions options = {});

/// The whole file of the directory, written to memory by these threads in tiles of that size.
std::string write_to_memory(const std::string& source, const ExecutorOptions& options,
                            ExecutorCounts* counts = nullptr);

/// Expects that the file holds exactly these tensors.
void expect_tensors(const Tensors& seen, const Tensors& expected);

/// Writes what `builder` holds, consolidates it, and expects `expected` in the result.
ConsolidateReport expect_consolidates(const DcpBuilder& builder, const Tensors& expected,
                                      ConsolidateOptions options = {});
/// The error of consolidating what `builder` holds; nothing may be left behind.
Error error_of_consolidating(const DcpBuilder& builder, const ConsolidateOptions& options = {});

}  // namespace fsdpckpt
