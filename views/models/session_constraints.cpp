// What a person demands of strategies: an undoable value beside the strategy, kept with the
// workspace for each model on each cluster.
#include "core/base/error.h"
#include "core/search/constraints/constraints.h"
#include "views/models/session.h"
#include "views/models/session_state.h"

namespace strato {
namespace {

std::string constraints_key(const Problem& problem) {
  return "constraints/" + problem.graph->digest().hex() + "/" + problem.cluster->digest().hex();
}

// What is stored may be damaged, or of an op group that is gone: then it is left out, with a word.
Constraints stored_constraints(const WorkspaceLists& workspace, const std::string& key) {
  const std::string* text = workspace.setting(key);
  return text ? parse_constraints(*text, workspace.file().string()) : Constraints();
}

}  // namespace

ConstrainCommand::ConstrainCommand(Session& session, Constraints before, Constraints after,
                                   const QString& text)
    : QUndoCommand(text),
      session_(session),
      graph_(session.snapshot().opened->graph),
      cluster_(session.snapshot().opened->cluster),
      before_(std::move(before)),
      after_(std::move(after)) {}

void ConstrainCommand::undo() { apply(before_); }
void ConstrainCommand::redo() { apply(after_); }

void ConstrainCommand::apply(const Constraints& constraints) {
  const auto& opened = session_.snapshot().opened;
  if (opened && opened->graph == graph_ && opened->cluster == cluster_) {
    session_.apply_constraints(constraints);
  } else {
    setObsolete(true);
  }
}

bool Session::constrain(const Constraints& wanted, const QString& label) {
  if (!snapshot_.problem) return false;
  const Constraints before = constraints_ ? *constraints_ : Constraints();
  if (wanted == before) return true;
  try {
    bind_constraints(&wanted, *snapshot_.opened);
  } catch (const InputError& error) {
    emit failed(QString::fromUtf8(error.what()));
    return false;
  }
  undo_stack_.push(new ConstrainCommand(*this, before, wanted, label));
  return true;
}

void Session::apply_constraints(const Constraints& constraints) {
  const std::string key = constraints_key(*snapshot_.opened);
  state_->shown().constraints[key] = constraints;
  if (workspace()) {  // the one that is open by then, also where one cannot be opened
    state_->recorder.change([key, text = constraints_json(constraints)](Workspace& workspace) {
      workspace.settings().set(key, text);
    });
  }
  state_->constrained.reset();
  find_constraints();
}

// Of the problem that is open now: those of before where it is the same in other groups.
void Session::find_constraints() {
  if (!snapshot_.opened || state_->constrained == snapshot_.opened) return;
  state_->constrained = snapshot_.opened;
  const bool had = constraints_ != nullptr;
  constraints_.reset();
  bound_.reset();
  QString trouble;
  try {
    const std::string key = constraints_key(*snapshot_.opened);
    auto known = state_->shown().constraints.find(key);
    if (known == state_->shown().constraints.end() && workspace() && workspace()->is_read()) {
      known = state_->shown().constraints.emplace(key, stored_constraints(*workspace(), key)).first;
    }
    if (known != state_->shown().constraints.end() && !known->second.empty()) {
      constraints_ = std::make_shared<const Constraints>(known->second);
      bound_ = bind_constraints(constraints_.get(), *snapshot_.opened);
    }
  } catch (const InputError& error) {
    trouble = QString::fromUtf8(error.what());
  }
  if (had || constraints_) emit constraints_changed();
  if (!trouble.isEmpty())
    emit failed(tr("The constraints of this problem are left out: %1").arg(trouble));
}

}  // namespace strato
