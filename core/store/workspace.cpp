#include "core/store/workspace.h"

#include "core/store/sqlite/connection.h"

namespace strato {

Workspace::Workspace(const std::filesystem::path& file, bool read_only)
    : tables_(new Tables{std::make_unique<store::Connection>(file, read_only)}) {}
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;

const std::filesystem::path& Workspace::file() const { return tables_->connection->file(); }

std::int64_t Workspace::data_version() const { return tables_->connection->data_version(); }

void Workspace::read_at_one_moment(const std::function<void()>& read) const {
  tables_->connection->read_at_one_moment(read);
}

}  // namespace strato
