// Exporters that are one function of a result, to the content of one file or to a folder of files.
#pragma once

#include <concepts>
#include <memory>

#include "core/plugin/api/plugin.h"

namespace strato {

template <std::invocable<const ExportInput&> Write>
class ExporterFunction final : public Exporter {
 public:
  explicit ExporterFunction(Write write) : write_(std::move(write)) {}
  bool makes_folder() const override { return !kOneFile; }
  std::string write(const ExportInput& input) override {
    if constexpr (kOneFile) return write_(input);
    return Exporter::write(input);
  }
  std::vector<ExportedFile> write_folder(const ExportInput& input) override {
    if constexpr (!kOneFile) return write_(input);
    return Exporter::write_folder(input);
  }

 private:
  static constexpr bool kOneFile =
      std::same_as<std::invoke_result_t<Write, const ExportInput&>, std::string>;
  Write write_;
};

}  // namespace strato

// In place of STRATOSCOPE_EXPORTER, for a plugin of one exporter.
#define STRATOSCOPE_EXPORTER_FUNCTION(write)                                     \
  STRATOSCOPE_EXPORTER([](std::string_view) {                                    \
    return std::make_unique<strato::ExporterFunction<decltype(&write)>>(&write); \
  })
