#include "core/store/workspace.h"

#include "core/store/sqlite/connection.h"

namespace strato {

struct Workspace::Tables {
  Tables(const std::filesystem::path& file, bool read_only) : connection(file, read_only) {}

  store::Connection connection;
  ProblemTable problems{connection};
  StrategyTable strategies{connection};
  RunTable runs{connection};
  TrainingTable trainings{connection};
  LaunchTable launches{connection};
  QueueTable queue{connection};
  AnnotationTable annotations{connection};
  SettingTable settings{connection};
};

Workspace::Workspace(const std::filesystem::path& file, bool read_only)
    : tables_(std::make_unique<Tables>(file, read_only)) {}
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;

const std::filesystem::path& Workspace::file() const { return tables_->connection.file(); }
ProblemTable& Workspace::problems() { return tables_->problems; }
const ProblemTable& Workspace::problems() const { return tables_->problems; }
StrategyTable& Workspace::strategies() { return tables_->strategies; }
const StrategyTable& Workspace::strategies() const { return tables_->strategies; }
RunTable& Workspace::runs() { return tables_->runs; }
const RunTable& Workspace::runs() const { return tables_->runs; }
TrainingTable& Workspace::trainings() { return tables_->trainings; }
const TrainingTable& Workspace::trainings() const { return tables_->trainings; }
LaunchTable& Workspace::launches() { return tables_->launches; }
const LaunchTable& Workspace::launches() const { return tables_->launches; }
QueueTable& Workspace::queue() { return tables_->queue; }
const QueueTable& Workspace::queue() const { return tables_->queue; }
AnnotationTable& Workspace::annotations() { return tables_->annotations; }
const AnnotationTable& Workspace::annotations() const { return tables_->annotations; }
SettingTable& Workspace::settings() { return tables_->settings; }
const SettingTable& Workspace::settings() const { return tables_->settings; }

std::int64_t Workspace::data_version() const { return tables_->connection.data_version(); }

void Workspace::read_at_one_moment(const std::function<void()>& read) const {
  tables_->connection.read_at_one_moment(read);
}

}  // namespace strato
