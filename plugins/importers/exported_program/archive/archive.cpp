#include "plugins/importers/exported_program/archive/archive.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace strato::exported_program_import {
namespace {

constexpr zip_int64_t kMostEntries = 1'000'000;
constexpr zip_uint64_t kMostBytes = zip_uint64_t{256} << 20;
// Of texts above this size: JSON is rarely compressed to less than a fiftieth.
constexpr zip_uint64_t kPlainlySmall = zip_uint64_t{16} << 20;
constexpr zip_uint64_t kMostUnfolded = 200;
constexpr const char* kSaveAgain = "save the program again with torch.export.save()";

using Archive = std::unique_ptr<zip_t, decltype(&zip_discard)>;

Archive open_archive(const std::string& file) {
  int code = 0;
  zip_t* archive = zip_open(file.c_str(), ZIP_RDONLY, &code);
  if (archive != nullptr) return {archive, &zip_discard};
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string words = zip_error_strerror(&error);
  zip_error_fini(&error);
  throw InputError(file, "", fmt::format("is no archive of torch.export ({})", words), kSaveAgain);
}

// "root/models/model.json" and "models/model.json" are; "data/aotinductor/models.json" is not.
bool is_program(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  const std::string_view last = slash == std::string_view::npos ? name : name.substr(slash + 1);
  if (last == "serialized_exported_program.json") return true;
  const std::string_view folder = slash == std::string_view::npos ? "" : name.substr(0, slash);
  return last.ends_with(".json") && (folder == "models" || folder.ends_with("/models"));
}

struct Entry {
  zip_uint64_t index = 0;
  std::string name;
};

[[noreturn]] void refuse_without_program(const std::string& file, bool compiled) {
  if (compiled) throw InputError(file, "", "holds compiled code and no graph", kSaveAgain);
  throw InputError(file, "", "holds no program of torch.export", kSaveAgain);
}

Entry program_entry(zip_t* archive, const std::string& file) {
  const zip_int64_t count = zip_get_num_entries(archive, 0);
  if (count > kMostEntries)
    throw InputError(file, "", fmt::format("has {} entries", count), kSaveAgain);
  std::vector<Entry> programs;
  bool compiled = false;
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* name = zip_get_name(archive, static_cast<zip_uint64_t>(i), 0);
    if (name == nullptr) continue;
    if (is_program(name)) programs.push_back({static_cast<zip_uint64_t>(i), name});
    compiled = compiled || std::string_view(name).find("aotinductor/") != std::string_view::npos;
  }
  if (programs.empty()) refuse_without_program(file, compiled);
  if (programs.size() > 1)
    throw InputError(file, programs[1].name,
                     fmt::format("is one of {} programs in the archive", programs.size()),
                     "save each program in a file of its own");
  return programs[0];
}

std::string read_entry(zip_t* archive, const Entry& entry, const std::string& file) {
  const auto refuse = [&](const std::string& problem) {
    throw InputError(file, entry.name, problem, kSaveAgain);
  };
  zip_stat_t stat;
  zip_stat_init(&stat);
  const zip_uint64_t wanted = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
  if (zip_stat_index(archive, entry.index, 0, &stat) != 0 || (stat.valid & wanted) != wanted)
    refuse("is damaged");
  if (stat.size > kMostBytes ||
      (stat.size > kPlainlySmall && stat.size / kMostUnfolded > stat.comp_size))
    refuse(fmt::format("unfolds to {} bytes", stat.size));
  const std::unique_ptr<zip_file_t, decltype(&zip_fclose)> opened(
      zip_fopen_index(archive, entry.index, 0), &zip_fclose);
  if (opened == nullptr) refuse("cannot be read");
  std::string text(static_cast<std::size_t>(stat.size), '\0');
  const zip_int64_t got = zip_fread(opened.get(), text.data(), text.size());
  // Nothing follows; and only who reads up to the end has the sum compared.
  char more = 0;
  const bool ends = zip_fread(opened.get(), &more, 1) == 0;
  if (got < 0 || static_cast<zip_uint64_t>(got) != stat.size || !ends) refuse("is damaged");
  return text;
}

}  // namespace

std::string read_program_text(const std::filesystem::path& file) {
  const std::string name = file.string();
  if (!std::filesystem::is_regular_file(file))
    throw InputError(name, "", "cannot be opened", "give a .pt2 file");
  const Archive archive = open_archive(name);
  return read_entry(archive.get(), program_entry(archive.get(), name), name);
}

}  // namespace strato::exported_program_import
