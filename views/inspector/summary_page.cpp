#include "views/inspector/summary_page.h"

#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>

#include "views/inspector/bar_list.h"
#include "views/inspector/facts.h"
#include "views/models/explanation.h"
#include "views/models/vital_signs.h"
#include "views/style/style.h"

namespace strato {
namespace {

constexpr std::size_t kMostParts = 7;
constexpr std::size_t kMostDevices = 8;

QString name_of_device(const Cluster& cluster, DeviceId device) {
  return QString::fromStdString(cluster.device(device).name);
}

QString label_of_part(const PathPart& part, const Cluster& cluster) {
  QString text = QString::fromUtf8(label_of(part.what));
  if (part.device.valid()) text += QStringLiteral(" · ") + name_of_device(cluster, part.device);
  if (part.target.valid()) text += QStringLiteral(" → ") + name_of_device(cluster, part.target);
  return text;
}

bool communicates(PathPart::What what) {
  return what == PathPart::What::Transfer || what == PathPart::What::Synchronise;
}

QColor colour_of(const PathPart& part, bool dark) {
  switch (part.what) {
    case PathPart::What::Compute:
      return style::kind_colour(TaskKind::Compute, dark);
    case PathPart::What::Update:
      return style::kind_colour(TaskKind::Update, dark);
    case PathPart::What::Reshuffle:
      return style::kind_colour(TaskKind::Concat, dark);
    case PathPart::What::Transfer:
      return style::kind_colour(TaskKind::Transfer, dark);
    case PathPart::What::Synchronise:
      return style::kind_colour(TaskKind::AllReduce, dark);
  }
  return {};
}

// Keeps the longest and sums up the rest.
std::vector<Bar> bars_of(const std::vector<PathPart>& parts, const Timeline& timeline, bool dark) {
  std::vector<Bar> bars;
  Nanos rest;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const PathPart& part = parts[i];
    if (i >= kMostParts) {
      rest += part.time;
      continue;
    }
    const double fraction = part.time / timeline.step_time;
    const QString label = label_of_part(part, *timeline.program->cluster);
    bars.push_back({label, share_text(fraction),
                    QStringLiteral("%1: %2 in %3 tasks of the critical path")
                        .arg(label, style::time(part.time))
                        .arg(part.tasks),
                    fraction, colour_of(part, dark), communicates(part.what),
                    part.device.valid() ? part.device.value() : -1});
  }
  if (rest.value > 0) {
    const double fraction = rest / timeline.step_time;
    bars.push_back(
        {QStringLiteral("Other"), share_text(fraction), {}, fraction, Qt::gray, false, -1});
  }
  return bars;
}

double communication_share(const Timeline& timeline) {
  Nanos time;
  for (const PathPart& part : path_composition(timeline)) {
    if (communicates(part.what)) time += part.time;
  }
  return timeline.step_time.value > 0 ? time / timeline.step_time : 0;
}

// The one insight, in a sentence.
QString insight(const Snapshot& snapshot, const VitalSigns& signs) {
  if (!snapshot.baseline || snapshot.baseline->program == snapshot.outcome->program) return {};
  const Timeline& baseline = *snapshot.baseline->timeline;
  if (!baseline.feasible) {
    return QStringLiteral("Data parallelism on all devices does not fit into memory here; this %1.")
        .arg(signs.feasible ? QStringLiteral("strategy does") : QStringLiteral("does not either"));
  }
  const double before = communication_share(baseline);
  const double now = communication_share(*snapshot.outcome->timeline);
  return QStringLiteral(
             "Data parallelism spends %1 of its critical path on communication, this strategy %2.")
      .arg(share_text(before), share_text(now));
}

}  // namespace

SummaryPage::SummaryPage(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      title_(make_title(this)),
      insight_(make_note(this)),
      trouble_(make_note(this)),
      path_heading_(make_heading(QStringLiteral("Why it takes this long"), this)),
      memory_heading_(make_heading(QStringLiteral("Memory at its peak"), this)),
      facts_(new Facts(this)),
      path_(new BarList(this)),
      memory_(new BarList(this)) {
  path_heading_->setToolTip(
      QStringLiteral("The critical path: the chain of tasks, each starting when the one before it "
                     "ends, by what it is spent on"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(2 * style::kGrid);
  for (QWidget* widget : std::initializer_list<QWidget*>{
           title_, trouble_, facts_, path_heading_, insight_, path_, memory_heading_, memory_}) {
    layout->addWidget(widget);
  }
  layout->addStretch();
  const auto select = [this](int device) {
    session_.selection().select_device(DeviceId(static_cast<std::size_t>(device)));
  };
  connect(path_, &BarList::clicked, this, select);
  connect(memory_, &BarList::clicked, this, select);
}

void SummaryPage::refresh() {
  const Snapshot& snapshot = session_.snapshot();
  const auto signs = vital_signs(snapshot);
  setVisible(signs.has_value());
  if (!signs) return;
  const Timeline& timeline = *snapshot.outcome->timeline;
  title_->setText(snapshot.label);
  trouble_->setText(why_infeasible(*signs, *snapshot.problem->cluster));
  trouble_->setVisible(!signs->feasible);
  QPalette red = palette();
  red.setColor(QPalette::WindowText, style::infeasible(style::is_dark(palette())));
  trouble_->setPalette(red);
  insight_->setText(insight(snapshot, *signs));
  insight_->setVisible(!insight_->text().isEmpty());
  std::int64_t communication = 0;
  for (const Task& task : timeline.program->tasks) communication += is_communication(task.kind);
  facts_->show_facts({
      {QStringLiteral("Step time"), style::time(timeline.step_time), QStringLiteral("Simulated")},
      {QStringLiteral("Data parallel"),
       style::time(snapshot.baseline->timeline->step_time) +
           (signs->baseline_feasible ? QString() : QStringLiteral(" (does not fit)")),
       QStringLiteral("AllReduce over all devices with equal shares")},
      {QStringLiteral("Lower bound"), style::time(snapshot.lower_bound),
       QStringLiteral("No strategy can be faster on this problem")},
      {QStringLiteral("Tasks"), style::count(static_cast<double>(timeline.tasks.size())), {}},
      {QStringLiteral("of them communication"),
       style::count(static_cast<double>(communication)),
       {}},
  });
  show_path(timeline);
  show_memory(timeline);
}

void SummaryPage::show_path(const Timeline& timeline) {
  path_->show_bars(bars_of(path_composition(timeline), timeline, style::is_dark(palette())));
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
        {name_of_device(cluster, device),
         QStringLiteral("%1 of %2").arg(style::bytes(use.peak), style::bytes(use.capacity)),
         QStringLiteral("Peak at %1").arg(style::time(use.peak_at)), fraction(device),
         use.fits() ? style::device_colour(cluster, device, dark) : style::infeasible(dark), false,
         device.value()});
  }
  memory_heading_->setText(
      devices.size() > kMostDevices
          ? QStringLiteral("Memory at its peak: the %1 fullest").arg(kMostDevices)
          : QStringLiteral("Memory at its peak"));
  memory_->show_bars(std::move(bars));
}

}  // namespace strato
