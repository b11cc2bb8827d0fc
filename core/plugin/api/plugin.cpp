#include "core/plugin/api/plugin.h"

#include "core/base/error.h"

namespace strato {

std::string Exporter::write(const ExportInput&) {
  CHECK(false, "an exporter that makes no file was asked for one");
  return {};
}

std::vector<ExportedFile> Exporter::write_folder(const ExportInput&) {
  CHECK(false, "an exporter that makes no folder was asked for one");
  return {};
}

}  // namespace strato
