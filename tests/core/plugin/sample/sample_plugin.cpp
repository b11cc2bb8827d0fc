// What somebody else would write: one library that serves several names and kinds.
#include "core/base/error.h"
#include "core/plugin/api/plugin.h"
#include "core/search/tree/search_tree.h"

namespace {

struct SamplePlanner : strato::Planner {
  std::string name_;
  explicit SamplePlanner(std::string_view name) : name_(name) {}
  std::string name() const override { return name_; }
  strato::PlanResult plan(const strato::Problem&, strato::Evaluator&, const strato::PlannerOptions&,
                          strato::Observer&, std::stop_token,
                          std::shared_ptr<const strato::SearchTree>) override {
    return {};
  }
};

struct SampleImporter : strato::Importer {
  strato::Graph import(const std::filesystem::path& file, const strato::ImportOptions&) override {
    throw strato::InputError(file.string(), "line 1", "is only a sample", "give another");
  }
};

std::unique_ptr<strato::Planner> make_planner(std::string_view name) {
  if (name == "nobody") return nullptr;
  return std::make_unique<SamplePlanner>(name);
}
std::unique_ptr<strato::Importer> make_importer(std::string_view) {
  return std::make_unique<SampleImporter>();
}

}  // namespace

STRATOSCOPE_PLANNER(make_planner)
STRATOSCOPE_IMPORTER(make_importer)
