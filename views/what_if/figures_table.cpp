#include "views/what_if/figures_table.h"

#include <QGridLayout>
#include <QLabel>
#include <cmath>

#include "views/style/style.h"

namespace strato {
namespace {

constexpr int kRows = 3;

QString coloured(const QString& text, const QColor& colour) {
  return QStringLiteral("<span style='color:%1'>%2</span>").arg(colour.name(), text);
}

}  // namespace

FiguresTable::FiguresTable(QWidget* parent)
    : QWidget(parent), grid_(new QGridLayout(this)), note_(new QLabel(this)) {
  grid_->setContentsMargins(3 * style::kGrid, 2 * style::kGrid, 3 * style::kGrid, style::kGrid);
  grid_->setHorizontalSpacing(4 * style::kGrid);
  grid_->setVerticalSpacing(style::kGrid);
  const char* const columns[] = {"Step time", "Samples/s", "Efficiency", "Fullest device"};
  const char* const tips[] = {
      "Simulated", "Batch over step time",
      "Of what the devices could do at full speed without communication and waiting",
      "Peak memory of the device that is filled most"};
  for (int c = 0; c < kColumns; ++c) {
    auto* head = new QLabel(QString::fromUtf8(columns[c]), this);
    head->setToolTip(QString::fromUtf8(tips[c]));
    head->setAlignment(Qt::AlignRight);
    grid_->addWidget(head, 0, c + 1);
    heads_.push_back(head);
  }
  const char* const rows[] = {"Today", "Then", "Data parallel then"};
  for (int r = 0; r < kRows; ++r) {
    auto* name = new QLabel(QString::fromUtf8(rows[r]), this);
    if (r == 1) {
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

QString FiguresTable::text_at(int row, int column) const {
  return cells_[static_cast<std::size_t>(row * kColumns + column)]->text();
}

QString FiguresTable::change(double now, double before, bool more_is_better) const {
  if (before <= 0 || std::abs(now / before - 1) < 5e-4) return {};
  const bool better = (now > before) == more_is_better;
  const bool dark = style::is_dark(palette());
  const QColor good = dark ? QColor(0x56b4e9) : QColor(0x0072b2), bad(dark ? 0xe69f00 : 0xb35900);
  return QStringLiteral("&nbsp;") +
         coloured(style::signed_percent(now / before - 1), better ? good : bad);
}

void FiguresTable::show_row(int row, const StepFigures& figures, const QString& fullest,
                            const StepFigures* before) {
  const auto cell = [&](int column) -> QLabel& {
    return *cells_[static_cast<std::size_t>(row * kColumns + column)];
  };
  const auto with_change = [&](const QString& text, double now, double then, bool more_is_better) {
    return before ? text + change(now, then, more_is_better) : text;
  };
  const StepFigures& old = before ? *before : figures;
  cell(Step).setText(with_change(style::time(figures.step_time), to_seconds(figures.step_time),
                                 to_seconds(old.step_time), false));
  cell(Rate).setText(with_change(style::significant(figures.samples_per_second),
                                 figures.samples_per_second, old.samples_per_second, true));
  cell(Efficiency).setText(with_change(style::percent(figures.efficiency), figures.efficiency,
                                       old.efficiency, true));
  const QString memory =
      QStringLiteral("%1 of %2").arg(style::bytes(figures.peak), style::bytes(figures.capacity));
  cell(Memory).setText(figures.feasible
                           ? memory
                           : coloured(memory + QStringLiteral(", does not fit"),
                                      style::infeasible(style::is_dark(palette()))));
  cell(Memory).setToolTip(fullest);
}

void FiguresTable::clear_row(int row) {
  for (int c = 0; c < kColumns; ++c)
    cells_[static_cast<std::size_t>(row * kColumns + c)]->setText(QStringLiteral("–"));
}

void FiguresTable::show_found(const std::optional<WhatIfFound>& found) {
  QPalette muted = palette();
  muted.setColor(QPalette::WindowText, style::muted_text(palette()));
  for (QLabel* head : heads_) head->setPalette(muted);
  for (int row = 0; row < kRows; ++row) clear_row(row);
  note_->setVisible(found && !(found->problem.isEmpty() && found->remark.isEmpty()));
  if (!found) return;
  show_row(0, found->today, found->fullest_today, nullptr);
  const bool dark = style::is_dark(palette());
  note_->setText(found->problem.isEmpty()
                     ? found->remark.toHtmlEscaped()
                     : coloured(found->problem.toHtmlEscaped(), style::infeasible(dark)));
  if (!found->problem.isEmpty()) return;
  show_row(1, found->then, found->fullest_then, &found->today);
  show_row(2, found->data_parallel, found->fullest_data_parallel, nullptr);
}

}  // namespace strato
