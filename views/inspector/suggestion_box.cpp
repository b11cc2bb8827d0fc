#include "views/inspector/suggestion_box.h"

#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "views/inspector/facts.h"
#include "views/style/style.h"

namespace strato {
namespace {

QString gain_of(const EditEffect& effect) {
  if (!effect.feasible) return SuggestionBox::tr("does not fit");
  if (!effect.feasible_before) return SuggestionBox::tr("fits");
  return style::signed_percent(effect.relative());
}

QString proof_of(const Suggestion& suggestion, int tried, const Cluster& cluster) {
  return SuggestionBox::tr(
             "%1 → %2: %3.\nSimulated as it would run; one of %4 changes that were tried.")
      .arg(style::time(suggestion.effect.before), style::time(suggestion.effect.after),
           suggestion.effect.text(cluster))
      .arg(tried);
}

}  // namespace

SuggestionBox::SuggestionBox(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      suggestions_(new Suggestions(session, this)),
      note_(make_note(this)),
      grid_(new QGridLayout) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(3 * style::kGrid, style::kGrid, 3 * style::kGrid, 2 * style::kGrid);
  layout->setSpacing(style::kGrid);
  layout->addWidget(make_heading(tr("Suggestions"), this));
  layout->addWidget(note_);
  grid_->setHorizontalSpacing(2 * style::kGrid);
  grid_->setVerticalSpacing(style::kGrid);
  grid_->setColumnStretch(1, 1);
  layout->addLayout(grid_);
  connect(suggestions_, &Suggestions::changed, this, &SuggestionBox::refresh);
  refresh();
}

SuggestionBox::Row& SuggestionBox::row(std::size_t number) {
  while (rows_.size() <= number) {
    const auto at = static_cast<int>(rows_.size());
    Row row{new QLabel(this), new QLabel(this), new QPushButton(tr("Apply"), this)};
    row.gain->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    QFont bold = row.gain->font();
    bold.setWeight(QFont::DemiBold);
    row.gain->setFont(bold);
    row.words->setWordWrap(true);
    row.words->setTextFormat(Qt::PlainText);
    row.apply->setFixedWidth(fontMetrics().horizontalAdvance(row.apply->text()) + 6 * style::kGrid);
    row.words->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    grid_->addWidget(row.gain, at, 0);
    grid_->addWidget(row.words, at, 1);
    grid_->addWidget(row.apply, at, 2);
    connect(row.apply, &QPushButton::clicked, this,
            [this, at] { suggestions_->apply(static_cast<std::size_t>(at)); });
    rows_.push_back(row);
  }
  return rows_[number];
}

void SuggestionBox::refresh() {
  const auto& list = suggestions_->list();
  const auto& problem = session_.snapshot().problem;
  for (std::size_t i = 0; problem && i < list.size(); ++i) {
    Row& row = this->row(i);
    const QString proof = proof_of(list[i], suggestions_->tried(), *problem->cluster);
    row.gain->setText(gain_of(list[i].effect));
    row.words->setText(list[i].words);
    row.apply->setAccessibleName(tr("Apply: %1").arg(list[i].words));
    for (QWidget* widget : std::initializer_list<QWidget*>{row.gain, row.words, row.apply})
      widget->setToolTip(proof);
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const bool shown = problem && i < list.size();
    for (QWidget* widget :
         std::initializer_list<QWidget*>{rows_[i].gain, rows_[i].words, rows_[i].apply})
      widget->setVisible(shown);
  }
  const int tried = suggestions_->tried();
  const bool looking = suggestions_->looking();
  const auto& outcome = session_.snapshot().outcome;
  const bool fits = !outcome || outcome->timeline->feasible;
  const bool alone = problem && problem->cluster->devices().size() == 1;
  note_->setText(looking     ? tr("Trying single changes: %1 so far…").arg(tried)
                 : tried > 0 ? (fits ? tr("None of %1 single changes is faster")
                                     : tr("None of %1 single changes makes it fit"))
                                   .arg(tried)
                             : tr("None: the cluster has one device only"));
  note_->setVisible(looking || (list.empty() && (tried > 0 || alone)));
}

}  // namespace strato
