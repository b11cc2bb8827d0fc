#include "views/inspector/summary_page.h"

#include <QCoreApplication>
#include <QHeaderView>
#include <QLabel>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "core/sim/explain/memory_report.h"
#include "core/sim/explain/path_pieces.h"
#include "views/inspector/bar_list.h"
#include "views/inspector/facts.h"
#include "views/inspector/micro_batch_field.h"
#include "views/models/explanation.h"
#include "views/models/vital_signs.h"
#include "views/models/what_if_model.h"
#include "views/style/fitting_name.h"
#include "views/style/style.h"

namespace strato {
namespace {

constexpr std::size_t kMostDevices = 8;
constexpr int kWideFrom = 320;  // px
constexpr int kMostRows = 9;    // of the what-ifs, without scrolling

QString name_of_device(const Cluster& cluster, DeviceId device) {
  return QString::fromStdString(cluster.device(device).name);
}

QColor colour_of(Reason reason, bool dark) {
  switch (reason) {
    case Reason::Reshuffle:
      return style::kind_colour(TaskKind::Concat, dark);
    case Reason::Transfer:
    case Reason::LinkBusy:
      return style::kind_colour(TaskKind::Transfer, dark);
    case Reason::Collective:
      return style::kind_colour(TaskKind::AllReduce, dark);
    case Reason::Straggler:
    case Reason::Process:
      return dark ? QColor(0x9a9a9a) : QColor(0x7a7a7a);
    default:
      return style::kind_colour(TaskKind::Compute, dark);
  }
}

bool hatched(Reason reason) {
  return reason == Reason::Transfer || reason == Reason::Collective || reason == Reason::LinkBusy;
}

QString meaning_of(Reason reason) {
  switch (reason) {
    case Reason::DeviceBusy:
      return SummaryPage::tr("A device works, and the path's next task waits for it");
    case Reason::LinkBusy:
      return SummaryPage::tr("A link is taken, and the path's next task waits for it");
    case Reason::Straggler:
      return SummaryPage::tr("Others are ready and wait for the slowest");
    case Reason::Process:
      return SummaryPage::tr("A device waits for the process that starts its kernels");
    default:
      return {};
  }
}

Bar bar_of(const ReasonTime& part, const Timeline& timeline, bool dark) {
  const double fraction = part.time / timeline.step_time;
  QString tip = SummaryPage::tr("%1 pieces of the critical path, most of it on %2")
                    .arg(part.pieces)
                    .arg(name_of_device(*timeline.program->cluster, part.device));
  if (const QString meaning = meaning_of(part.reason); !meaning.isEmpty()) {
    tip.prepend(meaning + QStringLiteral(".\n"));
  }
  return {QCoreApplication::translate("Explanation", label_of(part.reason)),
          style::time(part.time) + QStringLiteral("   ") + share_text(fraction),
          tip,
          fraction,
          colour_of(part.reason, dark),
          hatched(part.reason),
          part.device.value()};
}

// What is next to nothing is summed up.
std::vector<Bar> bars_of(const Explanation& explanation, bool dark) {
  constexpr double kLeast = 0.01;  // of the step
  const Timeline& timeline = *explanation.timeline;
  std::vector<Bar> bars;
  Nanos rest;
  QStringList rest_tips;
  for (const ReasonTime& part : path_composition(explanation)) {
    if (part.time / timeline.step_time >= kLeast) {
      bars.push_back(bar_of(part, timeline, dark));
    } else {
      rest += part.time;
      rest_tips << QStringLiteral("%1: %2").arg(
          QCoreApplication::translate("Explanation", label_of(part.reason)),
          style::time(part.time));
    }
  }
  if (rest.value > 0) {
    const double fraction = rest / timeline.step_time;
    bars.push_back({SummaryPage::tr("Other"),
                    style::time(rest) + QStringLiteral("   ") + share_text(fraction),
                    rest_tips.join(QLatin1Char('\n')), fraction, Qt::gray, false, -1});
  }
  return bars;
}

// A paragraph each: narrow columns of text read badly in one block.
QString in_paragraphs(const QStringList& texts) {
  QString result;
  for (const QString& text : texts) {
    QString line = style::with_readable_words(text).toHtmlEscaped();
    line.replace(QStringLiteral(" /"), QStringLiteral(" /\u2060"));  // no break behind the slash
    line.replace(QStringLiteral(" %"), QStringLiteral("\u00a0%"));
    result += QStringLiteral("<p style='margin:0 0 %1px 0'>%2</p>").arg(style::kGrid).arg(line);
  }
  return result;
}

QStringList texts_of(const std::vector<std::string>& list) {
  QStringList texts;
  for (const std::string& each : list) texts << QString::fromStdString(each);
  return texts;
}

QToolButton* make_more_button(QWidget* parent) {
  auto* button = new QToolButton(parent);
  button->setText(SummaryPage::tr("More"));
  button->setToolTip(SummaryPage::tr("What else there is to say about the step"));
  button->setCheckable(true);
  button->setAutoRaise(true);
  button->setArrowType(Qt::RightArrow);
  button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  return button;
}

QTableView* make_table(QAbstractItemModel* model, QWidget* parent) {
  auto* table = new QTableView(parent);
  table->setModel(model);
  table->setSortingEnabled(true);
  table->sortByColumn(WhatIfModel::Free, Qt::AscendingOrder);
  table->verticalHeader()->hide();
  table->verticalHeader()->setDefaultSectionSize(table->fontMetrics().height() + style::kGrid);
  table->setShowGrid(false);
  table->setFrameShape(QFrame::NoFrame);
  table->setSelectionBehavior(QAbstractItemView::SelectRows);
  table->setSelectionMode(QAbstractItemView::SingleSelection);
  table->setTextElideMode(Qt::ElideLeft);  // names differ at their ends
  table->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  table->setWordWrap(false);
  table->setAccessibleName(SummaryPage::tr("What would make the step faster"));
  QHeaderView* header = table->horizontalHeader();
  header->setHighlightSections(false);
  header->setMinimumSectionSize(40);
  header->setSectionResizeMode(QHeaderView::ResizeToContents);
  header->setSectionResizeMode(WhatIfModel::Name, QHeaderView::Stretch);
  return table;
}

// Of the fullest device: the others have pages of their own.
std::vector<std::string> memory_advice(const Timeline& timeline, const VitalSigns& signs,
                                       const Grouping& grouping) {
  if (signs.too_full.empty()) return {};
  return memory_report(timeline, signs.too_full.front().device, &grouping).advice;
}

}  // namespace

SummaryPage::SummaryPage(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      title_(make_title(this)),
      trouble_(make_note(this)),
      advice_(make_note(this)),
      path_heading_(make_heading(tr("Why it takes this long"), this)),
      why_(make_note(this)),
      why_more_(make_note(this)),
      what_if_heading_(make_heading(tr("What would make it faster"), this)),
      what_if_note_(make_note(this)),
      memory_heading_(make_heading(tr("Memory at its peak"), this)),
      more_(make_more_button(this)),
      facts_(new Facts(this)),
      micro_batches_(new MicroBatchField(session, this)),
      path_(new BarList(this)),
      memory_(new BarList(this)),
      what_if_(new WhatIfModel(session, this)),
      sorted_(new QSortFilterProxyModel(this)),
      table_(nullptr) {
  sorted_->setSourceModel(what_if_);
  sorted_->setSortRole(WhatIfModel::SortRole);
  table_ = make_table(sorted_, this);
  path_heading_->setToolTip(
      tr("The critical path: the chain of tasks, each starting when the one before it "
         "ends, by what it is spent on"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2 * style::kGrid);
  for (QWidget* widget : std::initializer_list<QWidget*>{
           title_, trouble_, advice_, facts_, make_heading(tr("Micro-batches"), this),
           micro_batches_, path_heading_, why_, path_, more_, why_more_, what_if_heading_,
           what_if_note_, table_, memory_heading_, memory_}) {
    layout->addWidget(widget);
  }
  layout->addStretch();
  const auto select = [this](int device) {
    session_.selection().select_device(DeviceId(static_cast<std::size_t>(device)));
  };
  connect(path_, &BarList::clicked, this, select);
  connect(more_, &QToolButton::toggled, this, [this](bool on) {
    more_->setArrowType(on ? Qt::DownArrow : Qt::RightArrow);
    show_why();
  });
  connect(memory_, &BarList::clicked, this, select);
  connect(table_, &QTableView::clicked, this, [this](const QModelIndex& index) {
    what_if_->select(sorted_->mapToSource(index).row());
  });
}

void SummaryPage::refresh() {
  const Snapshot& snapshot = session_.snapshot();
  const auto signs = vital_signs(snapshot);
  setVisible(signs.has_value());
  if (!signs) return;
  const Timeline& timeline = *snapshot.outcome->timeline;
  const bool dark = style::is_dark(palette());
  title_->setText(snapshot.label);
  if (!signs->feasible) {
    QString trouble = why_infeasible(*signs, *snapshot.problem->cluster);
    trouble[0] = trouble[0].toUpper();
    trouble_->setText(QStringLiteral("<span style='color:%1'>%2</span>")
                          .arg(style::infeasible(dark).name(), trouble.toHtmlEscaped()));
    advice_->setText(bullets(memory_advice(timeline, *signs, *snapshot.problem->grouping)));
  }
  trouble_->setVisible(!signs->feasible);
  advice_->setVisible(!signs->feasible && !advice_->text().isEmpty());
  show_facts();
  micro_batches_->refresh();
  show_why();
  show_what_ifs();
  show_memory(timeline);
}

void SummaryPage::show_facts() {
  const Snapshot& snapshot = session_.snapshot();
  const VitalSigns signs = *vital_signs(snapshot);
  const Timeline& timeline = *snapshot.outcome->timeline;
  std::int64_t communication = 0;
  for (const Task& task : timeline.program->tasks) communication += is_communication(task.kind);
  QString step = style::time(timeline.step_time);
  if (signs.error) step += QStringLiteral(" ± ") + rounded_percent(signs.error->relative);
  std::vector<Fact> facts = {
      {tr("Step time"), step, tr("Simulated, with its standard error")},
      {tr("Data parallel"),
       style::time(snapshot.baseline->timeline->step_time) +
           (signs.baseline_feasible || !signs.feasible ? QString() : tr(" (does not fit)")),
       tr("AllReduce over all devices with equal shares, simulated in the same way")},
      {tr("Lower bound"), style::time(snapshot.lower_bound),
       tr("No strategy can be faster on this problem")},
      {tr("Tasks"),
       tr("%1 (%2 comm.)")
           .arg(style::count(static_cast<double>(timeline.tasks.size())),
                style::count(static_cast<double>(communication))),
       {}},
  };
  if (snapshot.has_own_groups()) {
    facts.push_back({tr("Op groups"), tr("%1, its own").arg(snapshot.problem->grouping->size()),
                     tr("This strategy divides the %1 op groups of searches")
                         .arg(snapshot.opened->grouping->size())});
  }
  if (snapshot.label == session_.search().run) {
    for (const auto& [name, value] : session_.search().facts)
      facts.push_back({QString::fromStdString(name), QString::fromStdString(value),
                       tr("Told by %1").arg(session_.search().planner)});
  }
  facts_->show_facts(facts);
}

void SummaryPage::show_why() {
  const Snapshot& snapshot = session_.snapshot();
  const bool stale = !snapshot.explanation;
  if (!stale) explanation_ = snapshot.explanation;
  if (stale && explanation_ && explanation_->timeline->program->graph != snapshot.problem->graph) {
    explanation_ = nullptr;  // of another model
  }
  QStringList first = {tr("Looking for the reasons…")}, more;
  if (explanation_) {
    first = QStringList{QString::fromStdString(explanation_->why.verdict)} +
            texts_of(explanation_->why.causes);
    more = texts_of(explanation_->why.more);
    if (!explanation_->against_baseline.isEmpty()) more << explanation_->against_baseline;
  }
  why_->setText(in_paragraphs(first));
  why_more_->setText(in_paragraphs(more));
  more_->setVisible(!more.isEmpty());
  why_more_->setVisible(!more.isEmpty() && more_->isChecked());
  why_->setEnabled(!stale);
  why_more_->setEnabled(!stale);
  path_->setEnabled(!stale);
  path_->setVisible(explanation_ != nullptr);
  if (explanation_) path_->show_bars(bars_of(*explanation_, style::is_dark(palette())));
}

void SummaryPage::show_what_ifs() {
  constexpr const char* kParts[] = {QT_TR_NOOP("ops"), QT_TR_NOOP("devices"), QT_TR_NOOP("links")};
  const bool done = explanation_ && explanation_->complete();
  const bool searching = session_.search().state != SearchPhase::Idle;
  what_if_note_->setVisible(!done || what_if_->rowCount() == 0);
  if (done) {
    what_if_note_->setText(tr("No single op, device or link"));
  } else {
    const int part = explanation_ ? explanation_->parts_done : 0;
    what_if_note_->setText(searching ? tr("After the search")
                                     : tr("Trying faster %1… (%2 of %3)")
                                           .arg(tr(kParts[part]))
                                           .arg(part + 1)
                                           .arg(kWhatIfParts));
  }
  const int rows = std::min(what_if_->rowCount(), kMostRows);
  table_->setVisible(rows > 0);
  table_->setColumnHidden(WhatIfModel::Faster, width() < kWideFrom);  // its tip has the figure
  table_->setFixedHeight(table_->horizontalHeader()->sizeHint().height() +
                         rows * table_->verticalHeader()->defaultSectionSize() + 2);
}

void SummaryPage::show_memory(const Timeline& timeline) {
  const bool dark = style::is_dark(palette());
  const Cluster& cluster = *timeline.program->cluster;
  std::vector<DeviceId> devices;
  for (std::size_t d = 0; d < timeline.devices.size(); ++d) devices.emplace_back(d);
  const auto fraction = [&](DeviceId d) {
    return timeline.devices[d].peak / timeline.devices[d].capacity;
  };
  std::stable_sort(devices.begin(), devices.end(),
                   [&](DeviceId a, DeviceId b) { return fraction(a) > fraction(b); });
  std::vector<Bar> bars;
  for (const DeviceId device : devices) {
    if (bars.size() == kMostDevices) break;
    const DeviceUse& use = timeline.devices[device];
    bars.push_back(
        {name_of_device(cluster, device), style::bytes_of(use.peak, use.capacity),
         tr("Peak at %1").arg(style::time(use.peak_at)), fraction(device),
         use.fits() ? style::device_colour(cluster, device, dark) : style::infeasible(dark), false,
         device.value()});
  }
  memory_heading_->setText(devices.size() > kMostDevices
                               ? tr("Memory at its peak: the %1 fullest").arg(kMostDevices)
                               : tr("Memory at its peak"));
  memory_->show_bars(std::move(bars));
}

}  // namespace strato
