#include "views/charts/convergence_view.h"

#include <QChart>
#include <QChartView>
#include <QComboBox>
#include <QEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLegend>
#include <QLineSeries>
#include <QPainter>
#include <QToolButton>
#include <QToolTip>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <QValueAxis>
#include <algorithm>
#include <array>

#include "views/charts/chart_look.h"
#include "views/models/run_words.h"
#include "views/style/style.h"

namespace strato {
namespace {

constexpr std::size_t kLatest = 8;  // runs, where nobody has chosen any
constexpr int kWide = 560;          // px: chart and list side by side
constexpr QSize kSample(28, 12);

// Okabe and Ito's colours, yellow left out; in the dark their lighter kin.
constexpr std::array<QRgb, 6> kOnLight = {0xff0072b2, 0xffd55e00, 0xff009e73,
                                          0xffcc79a7, 0xff8a6d00, 0xff1b1b1b};
constexpr std::array<QRgb, 6> kOnDark = {0xff56b4e9, 0xffff9a4d, 0xff2fd3a5,
                                         0xffe5a6ca, 0xffe6c229, 0xfff0f0f0};

// Told apart by colour, and by dashes without it: 24 of them.
QPen line_pen(std::size_t line, bool dark, double width) {
  constexpr Qt::PenStyle kDashes[] = {Qt::SolidLine, Qt::DashLine, Qt::DotLine, Qt::DashDotLine};
  const std::size_t round = line / kOnLight.size();
  return {QColor((dark ? kOnDark : kOnLight)[line % kOnLight.size()]), width,
          kDashes[(line + round) % std::size(kDashes)]};
}

QIcon sample_icon(std::size_t line, bool dark, double ratio) {
  QPixmap pixmap(kSample * ratio);
  pixmap.setDevicePixelRatio(ratio);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(line_pen(line, dark, 2.5));
  painter.drawLine(QPointF(1, 6), QPointF(27, 6));
  painter.end();
  QIcon icon(pixmap);
  icon.addPixmap(pixmap, QIcon::Selected);
  return icon;
}

}  // namespace

struct ConvergenceView::Reading {  // on the worker
  std::filesystem::path file;
  std::optional<Workspace> workspace;
};

ConvergenceView::ConvergenceView(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      chart_(new QChart),
      view_(make_chart_view(chart_, nullptr)),
      x_(value_axis({})),
      y_(value_axis({})),
      over_(new QComboBox(this)),
      of_(new QComboBox(this)),
      latest_(new QToolButton(this)),
      empty_(new QLabel(this)),
      title_(new QLabel(this)),
      list_(new QTreeWidget(this)),
      body_(new QBoxLayout(QBoxLayout::LeftToRight)),
      reading_(std::make_shared<Reading>()) {
  build();
  connect(over_, &QComboBox::currentIndexChanged, this, &ConvergenceView::redraw);
  connect(of_, &QComboBox::activated, this, [this] { chose_of_ = true; });
  connect(of_, &QComboBox::currentIndexChanged, this, &ConvergenceView::redraw);
  connect(list_, &QTreeWidget::itemSelectionChanged, this, &ConvergenceView::recolour);
  connect(list_, &QTreeWidget::itemChanged, this, &ConvergenceView::recolour);
  connect(list_, &QTreeWidget::itemActivated, this, [this](QTreeWidgetItem* item) {
    session_.show_run(runs_[static_cast<std::size_t>(list_->indexOfTopLevelItem(item))].run);
  });
  connect(latest_, &QToolButton::clicked, this, [this] { show_runs({}); });
  connect(&session_, &Session::workspace_changed, this,
          [this, last = session.workspace() ? session.workspace()->file()
                                            : std::filesystem::path()]() mutable {
            const WorkspaceLists* workspace = session_.workspace();
            const auto file = workspace ? workspace->file() : std::filesystem::path();
            if (std::exchange(last, file) != file) {  // rows there are other runs
              wanted_.clear();
              version_ = -1;
            }
            poll();
          });
  connect(&session_, &Session::problem_changed, this, [this] {
    if (wanted_.empty()) version_ = -1;
    poll();
  });
  poll_.setInterval(1000);
  connect(&poll_, &QTimer::timeout, this, [this] {
    if (isVisible()) session_.look_at_workspace();  // more often than when nobody sees it
  });
  poll_.start();
  redraw();
}

ConvergenceView::~ConvergenceView() = default;

void ConvergenceView::build() {
  over_->addItems({tr("over evaluations"), tr("over time")});
  over_->setAccessibleName(tr("What the runs are drawn over"));
  of_->addItems({tr("Step time"), tr("Speed-up")});
  of_->setAccessibleName(tr("What is drawn of the runs"));
  latest_->setText(tr("Latest Runs"));
  latest_->setToolTip(tr("The latest runs of the model and cluster that are open"));
  latest_->setAutoRaise(true);
  title_->setTextFormat(Qt::PlainText);
  title_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  title_->installEventFilter(this);
  list_->setColumnCount(3);
  list_->setHeaderLabels({tr("Run"), tr("Best"), tr("State")});
  list_->setRootIsDecorated(false);
  list_->setUniformRowHeights(true);
  list_->setFrameShape(QFrame::NoFrame);
  list_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  list_->setIconSize(kSample);
  list_->header()->setStretchLastSection(false);
  list_->header()->setSectionResizeMode(0, QHeaderView::Stretch);
  for (const int column : {1, 2})
    list_->header()->setSectionResizeMode(column, QHeaderView::ResizeToContents);
  list_->setAccessibleName(tr("Runs in the chart"));
  list_->installEventFilter(this);
  view_->setAccessibleName(tr("Convergence of runs"));
  empty_->setWordWrap(true);
  empty_->setAlignment(Qt::AlignCenter);
  chart_->legend()->hide();  // the list tells the lines apart
  chart_->addAxis(x_, Qt::AlignBottom);
  chart_->addAxis(y_, Qt::AlignLeft);
  auto* bar = new QHBoxLayout;
  bar->setSpacing(style::kGrid);
  bar->addWidget(of_);
  bar->addWidget(over_);
  bar->addWidget(title_, 1);
  bar->addWidget(latest_);
  body_->setSpacing(style::kGrid);
  body_->addWidget(view_, 1);
  body_->addWidget(list_);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(style::kGrid, 0, style::kGrid, 0);
  column->setSpacing(style::kGrid);
  column->addLayout(bar);
  column->addLayout(body_, 1);
  column->addWidget(empty_, 1);
}

void ConvergenceView::show_runs(const std::vector<RunRow>& runs) {
  wanted_ = runs;
  if (wanted_.size() > kMostLines) wanted_.resize(kMostLines);
  chose_of_ = false;
  read_now();
}

// Writes of any program move the version.
void ConvergenceView::poll() {
  if (!isVisible()) return;
  const WorkspaceLists* workspace = session_.workspace();
  if (!workspace || !workspace->is_read() || workspace->version() != version_) read_now();
}

void ConvergenceView::read_now() {
  const WorkspaceLists* workspace = session_.workspace();
  version_ = workspace ? workspace->version() : -1;
  if (version_ < 0) return take(++job_, {}, {});  // none, or it is being opened
  Digest model, cluster;
  if (const auto& opened = session_.snapshot().opened) {
    model = opened->graph->digest();
    cluster = opened->cluster->digest();
  }
  worker_.post([this, job = ++job_, wanted = wanted_, model, cluster, file = workspace->file(),
                reading = reading_] {
    std::vector<ConvergenceRun> runs;
    QString error;
    try {
      if (!reading->workspace || reading->file != file) {
        reading->workspace.emplace(file, true);
        reading->file = file;
      }
      const Workspace& stored = *reading->workspace;
      runs =
          read_runs(stored, wanted.empty() ? latest_runs(stored, model, cluster, kLatest) : wanted);
    } catch (const std::exception& thrown) {
      error = QString::fromUtf8(thrown.what());
      reading->workspace.reset();
    }
    QMetaObject::invokeMethod(
        this, [this, job, runs = std::move(runs), error] { take(job, runs, error); },
        Qt::QueuedConnection);
  });
}

void ConvergenceView::take(std::uint64_t job, std::vector<ConvergenceRun> runs,
                           const QString& error) {
  if (job <= shown_job_) return;
  shown_job_ = job;
  if (!error.isEmpty()) {  // the last good picture stays
    emit session_.message(error);
    return;
  }
  const auto row = [](const ConvergenceRun& run) { return run.run; };
  const bool same = std::ranges::equal(runs, runs_, {}, row, row);
  runs_ = std::move(runs);
  if (!same && !chose_of_ && !runs_.empty()) {
    const QSignalBlocker blocker(of_);
    of_->setCurrentIndex(are_of_one_problem(runs_) ? 0 : 1);
  }
  if (!same) list_->clear();
  redraw();
}

void ConvergenceView::redraw() {
  const auto over = static_cast<ConvergenceOver>(over_->currentIndex());
  const auto of = static_cast<ConvergenceOf>(of_->currentIndex());
  const ConvergenceChart shown = chart_of(runs_, over, of);
  while (lines_.size() > shown.lines.size()) {
    chart_->removeSeries(lines_.back());
    delete lines_.back();
    lines_.pop_back();
  }
  while (lines_.size() < shown.lines.size()) {
    auto* series = new QLineSeries;
    chart_->addSeries(series);
    series->attachAxis(x_);
    series->attachAxis(y_);
    connect(series, &QLineSeries::hovered, this,
            [this, line = lines_.size()](const QPointF& point, bool inside) {
              if (inside) tell_point(line, point);
            });
    lines_.push_back(series);
  }
  x_->setTitleText(over == ConvergenceOver::Evaluations ? tr("Evaluations") : tr("Time (s)"));
  y_->setTitleText(of == ConvergenceOf::StepTime ? tr("Best step time (ms)")
                                                 : tr("Times as fast as data parallel"));
  set_range(*x_, shown.x_range.low, shown.x_range.high, shown.x_range.tick);
  set_range(*y_, shown.y_range.low, shown.y_range.high, shown.y_range.tick);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const auto& points = shown.lines[i].points;
    lines_[i]->setName(shown.lines[i].name);
    lines_[i]->replace(QList<QPointF>(points.begin(), points.end()));
    const double extent = points.empty() ? 0 : points.back().x() - points.front().x();
    lines_[i]->setPointsVisible(extent < 0.02 * shown.x_range.high);  // else it is not seen
    lines_[i]->setMarkerSize(5);
  }
  fill_list(shown);
  title_->setToolTip(runs_.empty() ? QString()
                     : are_of_one_problem(runs_)
                         ? runs_.front().problem
                         : tr("%1 runs of different problems").arg(runs_.size()));
  fit_title();
  const bool some = !runs_.empty();
  for (QWidget* widget : std::initializer_list<QWidget*>{view_, list_, over_, of_, title_})
    widget->setVisible(some);
  latest_->setVisible(!wanted_.empty());
  empty_->setVisible(!some);
  empty_->setText(
      session_.workspace()
          ? tr("No run of this problem yet. Search, or choose runs in the workspace and "
               "press C there.")
          : tr("Runs are drawn together from a workspace: open one, or make one with "
               "File > New Workspace."));
  recolour();
}

void ConvergenceView::fit_title() {
  title_->setText(
      title_->fontMetrics().elidedText(title_->toolTip(), Qt::ElideRight, title_->width()));
}

void ConvergenceView::fill_list(const ConvergenceChart& shown) {
  const QSignalBlocker blocker(list_);
  const bool one = are_of_one_problem(runs_);
  for (int i = 0; i < static_cast<int>(runs_.size()); ++i) {
    const ConvergenceRun& run = runs_[static_cast<std::size_t>(i)];
    QTreeWidgetItem* item = list_->topLevelItem(i);
    if (!item) {
      item = new QTreeWidgetItem(list_);
      item->setCheckState(0, Qt::Checked);
      item->setTextAlignment(1, Qt::AlignRight | Qt::AlignVCenter);
    }
    const std::int64_t best = run.history.empty() ? 0 : run.history.back().best_ns;
    item->setText(0, one ? run.name : run.name + QStringLiteral(", ") + run.problem);
    const bool outside = shown.lines[static_cast<std::size_t>(i)].outside;
    item->setText(1, best <= 0
                         ? QStringLiteral("–")
                         : style::time(Nanos(best)) + (outside ? QStringLiteral(" ↑") : QString()));
    item->setText(2, run_state_text(run.state));
    const QString speed =
        best > 0 && run.baseline > Nanos(0)
            ? tr(", %1 data parallel").arg(style::factor(run.baseline / Nanos(best)))
            : QString();
    QString tip = tr("%1, %2: %3 evaluations in %4 s%5")
                      .arg(run.name, run.problem)
                      .arg(run.evaluations)
                      .arg(style::significant(run.seconds), speed);
    if (outside) tip += QLatin1Char('\n') + tr("So far from the best that the chart leaves it out");
    for (const int column : {0, 1}) item->setToolTip(column, tip);
  }
}

void ConvergenceView::recolour() {
  const bool dark = style::is_dark(palette());
  recolour_chart(*chart_, palette(), font());
  const bool some_chosen = !list_->selectedItems().isEmpty();
  const QSignalBlocker blocker(list_);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    QTreeWidgetItem* item = list_->topLevelItem(static_cast<int>(i));
    if (!item) continue;
    const bool chosen = item->isSelected();
    QPen pen = line_pen(i, dark, chosen ? 3.5 : 2);
    if (some_chosen && !chosen) {
      QColor faded = pen.color();
      faded.setAlphaF(0.35f);
      pen.setColor(faded);
    }
    lines_[i]->setPen(pen);
    lines_[i]->setVisible(item->checkState(0) == Qt::Checked);
    item->setIcon(0, sample_icon(i, dark, devicePixelRatioF()));
  }
}

void ConvergenceView::tell_point(std::size_t line, const QPointF& point) {
  if (line >= runs_.size()) return;
  const bool time = of_->currentIndex() == 0;
  const QString best =
      time ? style::time(nanos_from_seconds(point.y() * 1e-3)) : style::factor(point.y());
  const QString at = over_->currentIndex() == 0 ? tr("%1 evaluations").arg(std::llround(point.x()))
                                                : tr("%1 s").arg(style::significant(point.x()));
  QToolTip::showText(QCursor::pos(), tr("%1: %2 after %3").arg(runs_[line].name, best, at), view_);
}

void ConvergenceView::remove_chosen() {
  std::vector<RunRow> left;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const QTreeWidgetItem* item = list_->topLevelItem(static_cast<int>(i));
    if (!item || !item->isSelected()) left.push_back(runs_[i].run);
  }
  if (!left.empty() && left.size() < runs_.size()) show_runs(left);
}

void ConvergenceView::wait() { worker_.wait(); }

void ConvergenceView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  poll();
}

void ConvergenceView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  const bool wide = width() >= kWide;
  body_->setDirection(wide ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
  list_->setMaximumWidth(wide ? std::max(200, width() / 3) : QWIDGETSIZE_MAX);
  list_->setMaximumHeight(wide ? QWIDGETSIZE_MAX : std::max(60, height() / 3));
}

void ConvergenceView::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) recolour();
  QWidget::changeEvent(event);
}

bool ConvergenceView::eventFilter(QObject* watched, QEvent* event) {
  if (watched == title_ && event->type() == QEvent::Resize) fit_title();
  if (watched == list_ && event->type() == QEvent::KeyPress &&
      static_cast<QKeyEvent*>(event)->key() == Qt::Key_Delete) {
    remove_chosen();
    return true;
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace strato
