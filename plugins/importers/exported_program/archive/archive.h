// The zip archive that torch.export.save() writes. Programs are JSON texts in it: of
// "models/NAME.json" (PyTorch 2.8 and later) or "serialized_exported_program.json" (before), under
// a root folder or none. Source: torch/csrc/export/pt2_archive_constants.h of PyTorch.
#pragma once

#include <filesystem>
#include <string>

namespace strato::exported_program_import {

// The program of an archive that holds exactly one. Weights are not read. Throws InputError for
// what is no such archive, holds no program (compiled code, weights only) or several, is damaged,
// or unfolds beyond reason.
std::string read_program_text(const std::filesystem::path& file);

}  // namespace strato::exported_program_import
