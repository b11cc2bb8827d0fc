#include "views/traces/traces_view.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabWidget>
#include <QVBoxLayout>

#include "views/compare/waterfall.h"
#include "views/style/elided_label.h"
#include "views/style/file_choice.h"
#include "views/style/style.h"
#include "views/style/text.h"
#include "views/timeline/legend_strip.h"
#include "views/traces/recorded_canvas.h"
#include "views/traces/recorded_text.h"

namespace strato {
namespace {

QLabel* wrapped(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  return label;
}

QBoxLayout* without_margins(QBoxLayout* layout) {
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  return layout;
}

}  // namespace

TracesView::TracesView(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      figures_([this](const RangeFigures& figures) { show_figures(figures); }),
      comparer_([this](const std::shared_ptr<const Beside>& beside) { show_beside(*beside); }),
      headline_(new style::ElidedLabel(Qt::ElideRight, this)),
      failure_(wrapped(this)),
      reading_words_(new style::ElidedLabel(Qt::ElideMiddle, this)),
      hint_(wrapped(this)),
      range_(new style::ElidedLabel(Qt::ElideRight, this)),
      sentence_(wrapped(this)),
      steps_(new QComboBox(this)),
      close_(new QPushButton(tr("C&lose"), this)),
      progress_(new QProgressBar(this)),
      top_(build_top()),
      reading_(build_reading()),
      stack_(new QStackedWidget(this)),
      legend_(new LegendStrip(this)),
      canvas_(new RecordedCanvas(this)),
      pages_(new QTabWidget(this)),
      ranks_(new FigureTable(tr("Time of each rank"), this)),
      kernels_(new FigureTable(tr("Kernels by name"), this)),
      communication_(new FigureTable(tr("Communication by collective and group"), this)),
      waterfall_(new Waterfall),
      beside_(new QCheckBox(tr("Show the simulated step a&bove the ranks"), this)),
      notes_(new QListWidget(this)) {
  stack_->addWidget(build_empty());
  stack_->addWidget(build_content());
  auto* column = without_margins(new QVBoxLayout(this));
  column->addWidget(top_);
  column->addWidget(failure_);
  column->addWidget(reading_);
  column->addWidget(stack_, 1);
  failure_->setContentsMargins(3 * style::kGrid, style::kGrid, 3 * style::kGrid, style::kGrid);
  connect(&model_, &TracesModel::changed, this, &TracesView::refresh);
  connect(&model_, &TracesModel::progressed, this, &TracesView::refresh_progress);
  connect(close_, &QPushButton::clicked, &model_, &TracesModel::close);
  connect(steps_, &QComboBox::activated, this, &TracesView::take_step);
  connect(canvas_, &RecordedCanvas::colours_changed, this,
          [this] { legend_->show_legend(canvas_->scene().colours, false); });
  connect(canvas_, &RecordedCanvas::range_chosen, this, &TracesView::show_range);
  connect(canvas_, &RecordedCanvas::rank_chosen, this, &TracesView::show_chosen_rank);
  connect(ranks_, &FigureTable::row_chosen, this, [this](std::size_t row) {
    canvas_->choose_rank(row);
    ask_figures();
  });
  connect(beside_, &QCheckBox::toggled, this, &TracesView::show_simulated);
  for (const auto signal :
       {&Session::problem_changed, &Session::outcome_changed, &Session::strategy_changed})
    connect(&session_, signal, this, &TracesView::ask_beside);
  refresh();
}

QWidget* TracesView::build_top() {
  auto* top = new QWidget(this);
  auto* row = new QHBoxLayout(top);
  row->setContentsMargins(3 * style::kGrid, style::kGrid, 2 * style::kGrid, style::kGrid);
  row->setSpacing(2 * style::kGrid);
  QFont font = headline_->font();
  font.setWeight(QFont::DemiBold);
  headline_->setFont(font);
  steps_->setAccessibleName(tr("Step"));
  steps_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  steps_->setMaximumWidth(28 * fontMetrics().averageCharWidth());
  steps_->setToolTip(
      tr("All figures are of this step, or of the stretch that is chosen by a drag"));
  close_->setToolTip(tr("Closes the recorded run and frees its memory"));
  row->addWidget(headline_, 1);
  row->addWidget(steps_);
  row->addWidget(close_);
  return top;
}

QWidget* TracesView::build_reading() {
  auto* reading = new QWidget(this);
  auto* row = new QHBoxLayout(reading);
  row->setContentsMargins(3 * style::kGrid, style::kGrid, 2 * style::kGrid, style::kGrid);
  row->setSpacing(2 * style::kGrid);
  progress_->setTextVisible(false);
  progress_->setMaximumWidth(160);
  progress_->setMaximumHeight(fontMetrics().height());
  auto* stop = new QPushButton(tr("S&top Reading"), reading);
  stop->setObjectName(QStringLiteral("stop"));
  connect(stop, &QPushButton::clicked, &model_, &TracesModel::stop);
  row->addWidget(reading_words_, 1);
  row->addWidget(progress_);
  row->addWidget(stop);
  return reading;
}

QWidget* TracesView::build_empty() {
  auto* empty = new QWidget(this);
  auto* column = new QVBoxLayout(empty);
  hint_->setAlignment(Qt::AlignCenter);
  hint_->setText(
      tr("Open what a profiler recorded of a real run: a folder with one file for each "
         "rank, or one file. PyTorch's profiler (.json, .json.gz), execution traces, "
         "Chakra, Nsight Systems (SQLite) and Chrome traces are read.\nThe view then "
         "tells where the time of each rank went and which rank the others wait for; "
         "beside a plan, why the real step differs from the simulated one."));
  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(2 * style::kGrid);
  auto* folder = new QPushButton(tr("Open a Trace Fol&der…"), empty);
  auto* file = new QPushButton(tr("Open a Trace F&ile…"), empty);
  connect(folder, &QPushButton::clicked, this, &TracesView::choose_folder);
  connect(file, &QPushButton::clicked, this, &TracesView::choose_file);
  buttons->addStretch();
  buttons->addWidget(folder);
  buttons->addWidget(file);
  buttons->addStretch();
  column->setContentsMargins(8 * style::kGrid, 4 * style::kGrid, 8 * style::kGrid,
                             4 * style::kGrid);
  column->setSpacing(4 * style::kGrid);
  column->addStretch();
  column->addWidget(hint_);
  column->addLayout(buttons);
  column->addStretch();
  return empty;
}

QWidget* TracesView::build_content() {
  upper_ = new QWidget(this);
  auto* column = without_margins(new QVBoxLayout(upper_));
  auto* strip = new QHBoxLayout;
  strip->setContentsMargins(3 * style::kGrid, 0, 2 * style::kGrid, style::kGrid / 2);
  strip->addWidget(legend_, 1);
  column->addLayout(strip);
  column->addWidget(canvas_, 1);
  pages_->setDocumentMode(true);
  pages_->addTab(ranks_, tr("Ranks"));
  pages_->addTab(communication_, tr("Communication"));
  pages_->addTab(kernels_, tr("Kernels"));
  pages_->addTab(build_beside(), tr("Beside the plan"));
  notes_->setFrameShape(QFrame::NoFrame);
  notes_->setWordWrap(true);
  notes_->setAccessibleName(tr("Notes"));
  pages_->addTab(notes_, tr("Notes"));
  range_->setContentsMargins(2 * style::kGrid, 0, 2 * style::kGrid, 0);
  pages_->setCornerWidget(range_);
  auto* content = new QSplitter(Qt::Vertical, this);
  content->setChildrenCollapsible(false);
  content->addWidget(upper_);
  content->addWidget(pages_);
  content->setStretchFactor(0, 3);
  content->setStretchFactor(1, 2);
  return content;
}

QWidget* TracesView::build_beside() {
  auto* page = new QWidget(this);
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(3 * style::kGrid, 2 * style::kGrid, 3 * style::kGrid, style::kGrid);
  column->setSpacing(style::kGrid);
  beside_->setToolTip(tr("On the same scale, from where the chosen step begins"));
  column->addWidget(sentence_);
  column->addWidget(beside_, 0, Qt::AlignLeft);
  column->addWidget(waterfall_);
  column->addStretch();
  auto* area = new QScrollArea(this);
  area->setWidget(page);
  area->setWidgetResizable(true);
  area->setFrameShape(QFrame::NoFrame);
  return area;
}

void TracesView::choose_folder() {
  const QString folder = style::folder_to_open(this, tr("Open a trace folder"));
  if (!folder.isEmpty()) open(folder);
}

void TracesView::choose_file() {
  const QString file =
      style::file_to_open(this, tr("Open a trace"),
                          tr("Traces (*.json *.json.gz *.gz *.et *.sqlite *.db);;All files (*)"));
  if (!file.isEmpty()) open(file);
}

QString TracesView::headline() const { return headline_->text(); }
QString TracesView::sentence_beside() const { return sentence_->text(); }

void TracesView::refresh() {
  reading_->setVisible(model_.reading());
  failure_->setVisible(!model_.failure().isEmpty());
  failure_->setText(model_.failure());
  refresh_progress();
  if (model_.run() != shown_) show_run();
  top_->setVisible(shown_ != nullptr);
  stack_->setCurrentIndex(shown_ ? 1 : 0);
}

void TracesView::refresh_progress() {
  if (!model_.reading()) return;
  reading_words_->setText(model_.progress());
  const double fraction = model_.fraction();
  progress_->setRange(0, fraction < 0 ? 0 : 1000);
  progress_->setValue(static_cast<int>(1000 * fraction));
}

void TracesView::show_run() {
  figures_.drop();
  comparer_.drop();
  with_plan_.reset();
  shown_ = model_.run();
  headline_->setText(shown_ ? headline_of(*shown_) : QString());
  headline_->setToolTip(shown_ ? QStringLiteral("<p>%1</p><p>%2</p>")
                                     .arg(headline_->text().toHtmlEscaped(),
                                          text(shown_->path.string()).toHtmlEscaped())
                               : QString());
  notes_->clear();
  if (shown_) notes_->addItems(notes_of(*shown_));
  canvas_->show_run(shown_);
  show_timed(!shown_ || shown_->timed());
  for (FigureTable* table : {ranks_, kernels_, communication_}) table->show_rows({});
  fill_steps();
  ask_figures();
  ask_beside();
}

// Without times there is no axis: operators are counted.
void TracesView::show_timed(bool timed) {
  upper_->setVisible(timed);
  pages_->setTabVisible(pages_->indexOf(ranks_), timed);
  pages_->setTabText(pages_->indexOf(kernels_), timed ? tr("Kernels") : tr("Operators"));
  if (!timed) pages_->setCurrentWidget(kernels_);
}

void TracesView::fill_steps() {
  const QSignalBlocker quiet(steps_);
  steps_->clear();
  steps_->setVisible(shown_ && !shown_->steps.empty());
  if (!shown_) return;
  steps_->addItem(tr("Whole run"));
  for (const RecordedStep& step : shown_->steps) {
    const QString words = tr("Step %1 · %2").arg(step.number).arg(style::time(step.length));
    steps_->addItem(step.steady ? words : tr("%1, not steady").arg(words));
  }
}

// The last one stands for a stretch that is no step.
void TracesView::show_range() {
  if (!shown_) return;
  const QSignalBlocker quiet(steps_);
  const int known = static_cast<int>(shown_->steps.size()) + 1;
  const std::optional<TimeRange>& range = canvas_->scene().range;
  while (steps_->count() > known) steps_->removeItem(known);
  const auto step = std::ranges::find_if(shown_->steps, [&](const RecordedStep& each) {
    return range && range->begin == each.begin && range->end == each.end;
  });
  if (!range) {
    steps_->setCurrentIndex(0);
  } else if (step != shown_->steps.end()) {
    steps_->setCurrentIndex(static_cast<int>(step - shown_->steps.begin()) + 1);
  } else {
    steps_->addItem(tr("A stretch · %1").arg(style::time(range->end - range->begin)));
    steps_->setCurrentIndex(known);
  }
  ask_figures();
  show_simulated();
}

void TracesView::take_step(int index) {
  const auto step = static_cast<std::size_t>(index);
  if (!shown_ || index < 0 || step > shown_->steps.size()) return;
  if (index == 0) {
    canvas_->choose_range(std::nullopt, true);
  } else {
    const RecordedStep& chosen = shown_->steps[step - 1];
    canvas_->choose_range(TimeRange{chosen.begin, chosen.end}, true);
  }
  show_range();
}

QString TracesView::about_the_range() const {
  const RecordedScene& scene = canvas_->scene();
  QString words;
  if (scene.range)
    words = tr("%1 from %2 on")
                .arg(style::time(scene.range->end - scene.range->begin),
                     style::time(scene.range->begin));
  if (!scene.rank || !shown_) return words;
  const QString rank = tr("kernels of rank %1").arg(shown_->rows[*scene.rank].rank);
  return words.isEmpty() ? rank : tr("%1, %2").arg(words, rank);
}

void TracesView::ask_figures() {
  range_->setText(about_the_range());
  if (!shown_) return figures_.drop();
  figures_.ask([run = shown_, range = canvas_->scene().range,
                rank = canvas_->scene().rank] { return figures_in(*run, range, rank); },
               false);
}

void TracesView::show_figures(const RangeFigures& figures) {
  if (!shown_ || figures.ranks.size() != shown_->rows.size()) return;
  ranks_->show_rows(rank_rows(*shown_, figures));
  kernels_->show_rows(kernel_rows(*shown_, figures));
  communication_->show_rows(communication_rows(figures));
  ranks_->choose(canvas_->scene().rank);
}

void TracesView::show_chosen_rank() {
  ranks_->choose(canvas_->scene().rank);
  ask_figures();
}

void TracesView::ask_beside() {
  const auto& outcome = session_.snapshot().outcome;
  if (!shown_ || !outcome || !shown_->timed()) {
    comparer_.drop();
    show_beside({nullptr, shown_, {}, std::nullopt});
    return;
  }
  if (!isVisible()) return;  // asked again when it is shown
  comparer_.ask(
      [run = shown_, timeline = outcome->timeline, label = tr("Simulated").toStdString()] {
        auto beside = std::make_shared<Beside>(Beside{timeline, run, {}, std::nullopt});
        beside->rows = simulated_rows(timeline);
        beside->comparison = compare_step(*timeline, beside->rows, label, *run);
        return std::shared_ptr<const Beside>(std::move(beside));
      },
      false);
}

void TracesView::show_beside(const Beside& beside) {
  if (beside.run != shown_) return;
  with_plan_ = std::make_shared<const Beside>(beside);
  const bool known = with_plan_->comparison.has_value();
  waterfall_->show_comparison(known ? &*with_plan_->comparison : nullptr);
  waterfall_->setVisible(known);
  const std::size_t devices = beside.rows.size(), ranks = shown_ ? shown_->rows.size() : 0;
  beside_->setVisible(beside.timeline && devices == ranks);
  QString words;
  if (!beside.timeline) {
    words =
        tr("Open a model and a cluster, or a plan, to see why the recorded step differs from "
           "the simulated one.");
  } else if (!known) {
    words =
        tr("No steady step was found in this run: there is nothing to compare with the "
           "simulated one.");
  } else {
    words = text(with_plan_->comparison->sentence);
    if (devices != ranks)
      words += QLatin1Char(' ') +
               tr("The plan has %1 devices and the run %2 ranks: only means are compared.")
                   .arg(devices)
                   .arg(ranks);
    words += QLatin1Char(' ') + tr("Times are means over devices and over steady steps; ops are "
                                   "not matched one by one.");
  }
  sentence_->setText(words);
  show_simulated();
}

// From where the chosen step begins; else the first steady one.
void TracesView::show_simulated() {
  if (!shown_ || !with_plan_ || !beside_->isChecked() ||
      with_plan_->rows.size() != shown_->rows.size())
    return canvas_->show_simulated({}, Nanos(0));
  Nanos begin;
  const auto steady = std::ranges::find_if(shown_->steps, &RecordedStep::steady);
  if (steady != shown_->steps.end()) begin = steady->begin;
  if (const auto& range = canvas_->scene().range)
    for (const RecordedStep& step : shown_->steps)
      if (step.begin == range->begin) begin = step.begin;
  canvas_->show_simulated(with_plan_->rows, begin);
}

void TracesView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  ask_beside();
}

}  // namespace strato
