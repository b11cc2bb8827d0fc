#include "app/explorer/header_menus.h"

#include <QDir>
#include <QInputDialog>
#include <QMenu>
#include <cstdint>
#include <functional>
#include <optional>

#include "app/explorer/header_bar.h"
#include "core/io/file.h"
#include "views/models/problem_source.h"
#include "views/style/text.h"

namespace strato {
namespace {

void add_samples(QMenu& menu, const char* folder, const QStringList& patterns, HeaderBar& bar) {
  const QString path = text((home_directory() / "sample_graphs" / folder).string());
  for (const QFileInfo& file : QDir(path).entryInfoList(patterns, QDir::Files, QDir::Name)) {
    menu.addAction(file.completeBaseName(), &bar,
                   [&bar, path = file.filePath()] { emit bar.sample_wanted(path); });
  }
}

template <class Function>
void add_choice(QMenu& menu, const QString& name, bool chosen, HeaderBar& bar, Function choose) {
  QAction* action = menu.addAction(name, &bar, choose);
  action->setCheckable(true);
  action->setChecked(chosen);
}

void add_batches(QMenu& menu, std::int64_t batch, HeaderBar& bar,
                 const std::function<void(std::int64_t)>& reopen) {
  for (const int value : {8, 16, 32, 64, 96, 128, 256, 512}) {
    add_choice(menu, QString::number(value), value == batch, bar, [=] { reopen(value); });
  }
  menu.addAction(HeaderBar::tr("Other…"), &bar, [&bar, batch, reopen] {
    bool ok = false;
    const int value =
        QInputDialog::getInt(&bar, HeaderBar::tr("Batch"), HeaderBar::tr("Samples in one step"),
                             static_cast<int>(batch), 1, 1 << 20, 1, &ok);
    if (ok) reopen(value);
  });
}

QString name_of(std::optional<DataType> precision) {
  return precision ? text(name_of(*precision)) : HeaderBar::tr("as the model has it");
}

void add_precisions(QMenu& menu, const ImportOptions& import, HeaderBar& bar,
                    const std::function<void(const ImportOptions&)>& reopen) {
  menu.setToolTipsVisible(true);
  const std::initializer_list<std::optional<DataType>> choices = {std::nullopt, DataType::F32,
                                                                  DataType::BF16, DataType::F16};
  for (const auto& precision : choices) {
    ImportOptions changed = import;
    changed.precision = precision;
    add_choice(menu, name_of(precision), precision == import.precision, bar,
               [=] { reopen(changed); });
    menu.actions().back()->setToolTip(
        HeaderBar::tr("Of what is computed; parameters, gradients and optimizer states stay in "
                      "32 bits"));
  }
}

}  // namespace

void fill_model_menu(QMenu& menu, Session& session, HeaderBar& bar) {
  menu.clear();
  menu.addAction(HeaderBar::tr("Open model…"), &bar, &HeaderBar::open_model_wanted);
  add_samples(*menu.addMenu(HeaderBar::tr("Sample models")), "models",
              {QStringLiteral("*.onnx"), QStringLiteral("*.json")}, bar);
  if (!session.problem_options() || !session.snapshot().problem) return;
  menu.addSeparator();
  const ProblemOptions options = *session.problem_options();
  const std::int64_t batch = session.snapshot().problem->graph->batch();
  const ImportOptions import = session.model_source()->import;
  const auto reopen = [&session, import](std::int64_t new_batch, const ProblemOptions& changed) {
    ImportOptions other = import;
    other.batch = new_batch;
    session.reopen_model(other, changed);
  };
  add_batches(*menu.addMenu(HeaderBar::tr("Batch: %1").arg(batch)), batch, bar,
              [=](std::int64_t value) { reopen(value, options); });
  add_precisions(*menu.addMenu(HeaderBar::tr("Precision: %1").arg(name_of(import.precision))),
                 import, bar, [&session, options](const ImportOptions& changed) {
                   session.reopen_model(changed, options);
                 });
  QMenu* optimizers =
      menu.addMenu(HeaderBar::tr("Optimizer: %1").arg(text(name_of(options.optimizer))));
  for (const Optimizer optimizer : {Optimizer::Sgd, Optimizer::Momentum, Optimizer::Adam}) {
    ProblemOptions changed = options;
    changed.optimizer = optimizer;
    add_choice(*optimizers, text(name_of(optimizer)), optimizer == options.optimizer, bar,
               [=] { reopen(batch, changed); });
  }
  const int most = options.grouping.max_groups;
  QMenu* groups = menu.addMenu(HeaderBar::tr("Op groups: at most %1").arg(most));
  for (const int value : {10, 20, 40, 60, 100, 200}) {
    add_choice(*groups, QString::number(value), value == most, bar,
               [&session, value] { session.regroup(value); });
  }
}

void fill_cluster_menu(QMenu& menu, HeaderBar& bar) {
  menu.clear();
  menu.addAction(HeaderBar::tr("Open cluster…"), &bar, &HeaderBar::open_cluster_wanted);
  menu.addAction(HeaderBar::tr("Discover cluster…"), &bar, &HeaderBar::discover_wanted);
  menu.addSeparator();
  add_samples(menu, "clusters", {QStringLiteral("*.json")}, bar);
}

}  // namespace strato
