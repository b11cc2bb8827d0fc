#include "views/what_if/figures_table.h"

#include <QGridLayout>
#include <QLabel>
#include <cmath>

#include "views/style/style.h"

namespace strato {
namespace {

QString coloured(const QString& text, const QColor& colour) {
  return QStringLiteral("<span style='color:%1'>%2</span>").arg(colour.name(), text);
}

}  // namespace

FiguresTable::FiguresTable(QWidget* parent)
    : QWidget(parent), grid_(new QGridLayout(this)), note_(new QLabel(this)) {
  grid_->setContentsMargins(2 * style::kGrid, 2 * style::kGrid, 0, style::kGrid);
  grid_->setHorizontalSpacing(2 * style::kGrid);
  grid_->setVerticalSpacing(style::kGrid);
  const QString columns[] = {tr("Step time"), tr("Samples/s"), tr("Efficiency"),
                             tr("Fullest device"), tr("$ a million")};
  const QString tips[] = {
      tr("Simulated"), tr("Batch over step time"),
      tr("Of what the devices could do at full speed without communication and waiting"),
      tr("Peak memory of the device that is filled most"),
      tr("US dollars for a million samples: the price of all machines, as the cluster's file has "
         "it")};
  for (int c = 0; c < kColumns; ++c) {
    auto* head = new QLabel(columns[c], this);
    head->setToolTip(tips[c]);
    head->setAlignment(Qt::AlignRight);
    grid_->addWidget(head, 0, c + 1);
    heads_.push_back(head);
  }
  const QString rows[] = {tr("Today"), tr("Then"), tr("Change"), tr("Planned anew"),
                          tr("Data parallel")};
  for (int r = 0; r < kRows; ++r) {
    auto* name = new QLabel(rows[r], this);
    names_.push_back(name);
    if (r == Then) {
      QFont font = name->font();
      font.setWeight(QFont::DemiBold);
      name->setFont(font);
    }
    grid_->addWidget(name, r + 1, 0);
    for (int c = 0; c < kColumns; ++c) {
      auto* cell = new QLabel(this);
      cell->setAlignment(Qt::AlignRight);
      cell->setTextFormat(Qt::RichText);
      cell->setTextInteractionFlags(Qt::TextSelectableByMouse);
      grid_->addWidget(cell, r + 1, c + 1);
      cells_.push_back(cell);
    }
  }
  grid_->setColumnStretch(kColumns + 1, 1);
  note_->setWordWrap(true);
  note_->hide();
  grid_->addWidget(note_, kRows + 1, 0, 1, kColumns + 2);
}

QLabel& FiguresTable::cell(int row, int column) const {
  return *cells_[static_cast<std::size_t>(row * kColumns + column)];
}

QString FiguresTable::text_at(int row, int column) const { return cell(row, column).text(); }

void FiguresTable::show_change(int column, double now, double before, bool more_is_better) {
  const double ratio = before > 0 ? now / before : 1;
  if (std::abs(ratio - 1) < 5e-4) return;
  const bool dark = style::is_dark(palette());
  const QColor good = dark ? QColor(0x56b4e9) : QColor(0x0072b2), bad(dark ? 0xe69f00 : 0xb35900);
  cell(Change, column)
      .setText(coloured(ratio < 3 ? style::signed_percent(ratio - 1) : style::factor(ratio),
                        (ratio > 1) == more_is_better ? good : bad));
}

void FiguresTable::show_row(int row, const StepFigures& figures, const QString& fullest) {
  cell(row, Step).setText(style::time(figures.step_time));
  cell(row, Rate).setText(style::significant(figures.samples_per_second));
  cell(row, Efficiency).setText(style::percent(figures.efficiency));
  const QString memory = style::bytes_of(figures.peak, figures.capacity);
  const bool dark = style::is_dark(palette());
  cell(row, Memory).setText(figures.feasible ? memory : coloured(memory, style::infeasible(dark)));
  cell(row, Memory).setToolTip(fullest);
  if (figures.per_million_samples)
    cell(row, Price).setText(style::significant(*figures.per_million_samples));
}

// What nobody has is not there.
void FiguresTable::show_columns(const WhatIfFound& found, bool replanned) {
  const bool priced = found.today.per_million_samples || found.then.per_million_samples;
  heads_[Price]->setVisible(priced);
  names_[PlannedAnew]->setVisible(replanned);
  for (int row = 0; row < kRows; ++row)
    for (int column = 0; column < kColumns; ++column)
      cell(row, column)
          .setVisible((priced || column != Price) && (replanned || row != PlannedAnew));
}

QString FiguresTable::note_of(const WhatIfFound& found, const ReplanFound* replanned) const {
  const QColor red = style::infeasible(style::is_dark(palette()));
  if (!found.problem.isEmpty()) return coloured(found.problem.toHtmlEscaped(), red);
  QString note = found.remark.toHtmlEscaped();
  if (!found.then.feasible)
    note = coloured(tr("Then it does not fit: %1 needs %2 of %3. ")
                        .arg(found.fullest_then.toHtmlEscaped(), style::bytes(found.then.peak),
                             style::bytes(found.then.capacity)),
                    red) +
           note;
  if (replanned != nullptr && !replanned->note.isEmpty()) {  // the rest of it is in the tooltip
    const QString first = replanned->note.section(QStringLiteral("; "), 0, 0);
    note += (note.isEmpty() ? QString() : QStringLiteral("<br>")) +
            tr("Planned anew (%1): %2").arg(replanned->planner, first).toHtmlEscaped();
  }
  return note;
}

void FiguresTable::show_found(const std::optional<WhatIfFound>& found,
                              const ReplanFound* replanned) {
  QPalette muted = palette();
  muted.setColor(QPalette::WindowText, style::muted_text(palette()));
  for (QLabel* head : heads_) head->setPalette(muted);
  for (QLabel* each : cells_) each->setText(QStringLiteral("–"));
  note_->setText(found ? note_of(*found, replanned) : QString());
  note_->setToolTip(replanned ? replanned->note : QString());
  note_->setVisible(!note_->text().isEmpty());
  show_columns(found ? *found : WhatIfFound(), replanned != nullptr);
  if (!found) return;
  show_row(Today, found->today, found->fullest_today);
  if (!found->problem.isEmpty()) return;
  show_row(Then, found->then, found->fullest_then);
  show_row(DataParallel, found->data_parallel, found->fullest_data_parallel);
  if (replanned != nullptr) show_row(PlannedAnew, replanned->figures, replanned->fullest);
  const StepFigures &now = found->then, &before = found->today;
  show_change(Step, to_seconds(now.step_time), to_seconds(before.step_time), false);
  show_change(Rate, now.samples_per_second, before.samples_per_second, true);
  show_change(Efficiency, now.efficiency, before.efficiency, true);
  show_change(Memory, static_cast<double>(now.peak.value), static_cast<double>(before.peak.value),
              false);
}

}  // namespace strato
