#include "core/cost/model/cost_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "core/cost/model/measured_cost_model.h"
#include "core/cost/value/calibration.h"
#include "core/cost/value/profile_reader.h"

namespace strato {
namespace fs = std::filesystem;
namespace {

bool is_file(const std::string& calibration) {
  std::error_code error;
  return fs::exists(calibration, error) || calibration.find('/') != std::string::npos ||
         calibration.ends_with(".json");
}

}  // namespace

CostSources read_costs(const CostFiles& files, std::vector<std::string>* warnings) {
  CostSources sources;
  Profile all;
  for (const std::string& file : files.profiles) {
    Profile profile = read_profile(file);
    const std::string warning = mixture_warning(all, profile);
    if (warnings != nullptr && !warning.empty()) warnings->push_back(warning);
    all = all.empty() ? std::move(profile) : merge(all, profile);
  }
  if (!files.profiles.empty()) sources.profile = std::make_shared<const Profile>(std::move(all));
  if (files.calibration.empty()) return sources;
  sources.calibration = std::make_shared<const Calibration>(
      is_file(files.calibration) ? read_calibration(files.calibration)
                                 : bundled_calibration(files.calibration));
  return sources;
}

CostFiles absolute(CostFiles files) {
  const auto whole = [](const std::string& file) {
    return fs::absolute(file).lexically_normal().string();
  };
  for (std::string& file : files.profiles) file = whole(file);
  if (!files.calibration.empty() && is_file(files.calibration))
    files.calibration = whole(files.calibration);
  return files;
}

std::string mixture_warning(const Profile& a, const Profile& b) {
  const bool same_host = a.host == b.host, same_software = a.software == b.software;
  if (same_host && same_software) return "";
  std::set<std::pair<std::string_view, std::string_view>> measured;
  for (const OpProfile& op : a.ops) measured.emplace(op.gpu, op.signature);
  const auto shared = std::ranges::count_if(b.ops, [&](const OpProfile& op) {
    return measured.contains({op.gpu, op.signature});
  });
  if (shared == 0) return "";
  const auto origin = [&](const Profile& each) {
    const auto named = [](const std::string& text) { return text.empty() ? "unknown" : text; };
    return same_software ? named(each.host)
                         : fmt::format("{} with {}", named(each.host), named(each.software));
  };
  return fmt::format("{} kinds of op were measured on {} and on {}: the mean of both counts",
                     shared, origin(a), origin(b));
}

std::string describe(const CostSources& sources) {
  std::string text;
  const bool standard = sources.calibration == nullptr ||
                        sources.calibration->digest() == Calibration::standard().digest();
  if (!standard) {
    text = fmt::format("calibration \"{}\" ({})", sources.calibration->name,
                       sources.calibration->digest().hex().substr(0, 8));
  }
  if (sources.profile != nullptr) {
    text += fmt::format("{}profile \"{}\" ({})", text.empty() ? "" : " and ", sources.profile->name,
                        sources.profile->digest().hex().substr(0, 8));
  }
  return text;
}

}  // namespace strato
