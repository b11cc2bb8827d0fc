// The plugin's entry: an archive of torch.export becomes a forward graph, in three steps (unpack,
// read, translate).
#include <memory>
#include <string_view>

#include "core/plugin/api/plugin.h"
#include "plugins/importers/exported_program/archive/archive.h"
#include "plugins/importers/exported_program/program/binding.h"
#include "plugins/importers/exported_program/program/program.h"
#include "plugins/importers/exported_program/translate/translate.h"

namespace strato::exported_program_import {
namespace {

class ExportedProgramImporter : public Importer {
 public:
  Graph import(const std::filesystem::path& file, const ImportOptions& options) override {
    const Program program = read_program(read_program_text(file), file.string());
    return translate(program, Binding(program, options), file.stem().string());
  }
};

}  // namespace
}  // namespace strato::exported_program_import

STRATOSCOPE_IMPORTER([](std::string_view) {
  return std::make_unique<strato::exported_program_import::ExportedProgramImporter>();
})
