#include "views/inspector/device_page.h"

#include <QCoreApplication>
#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>

#include "core/sim/explain/memory_report.h"
#include "views/inspector/bar_list.h"
#include "views/inspector/facts.h"
#include "views/models/explanation.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {

DevicePage::DevicePage(Session& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      title_(make_title(this)),
      subtitle_(make_note(this)),
      time_heading_(make_heading(tr("Its step"), this)),
      role_heading_(make_heading(tr("Memory at the peak"), this)),
      tensor_heading_(make_heading(tr("Largest tensors then"), this)),
      advice_(make_note(this)),
      facts_(new Facts(this)),
      times_(new BarList(this)),
      roles_(new BarList(this)),
      tensors_(new BarList(this)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(style::kGrid);
  for (QWidget* widget :
       std::initializer_list<QWidget*>{title_, subtitle_, facts_, advice_, time_heading_, times_,
                                       role_heading_, roles_, tensor_heading_, tensors_}) {
    layout->addWidget(widget);
  }
  layout->addStretch();
}

void DevicePage::refresh() {
  const Selection& selection = session_.selection();
  const auto& problem = session_.snapshot().problem;
  if (!problem) return;
  const auto device = selection.device();
  const auto link = selection.link();
  const bool is_device = device && device->index() < problem->cluster->device_count();
  for (QWidget* widget :
       std::initializer_list<QWidget*>{role_heading_, roles_, tensor_heading_, tensors_, advice_}) {
    widget->setVisible(is_device);
  }
  if (is_device) {
    show_device(*device);
  } else if (link && link->index() < problem->cluster->links().size()) {
    show_link(*link);
  }
}

void DevicePage::show_device(DeviceId device) {
  const Snapshot& snapshot = session_.snapshot();
  const Cluster& cluster = *snapshot.problem->cluster;
  const Device& info = cluster.device(device);
  const GpuType& gpu = cluster.gpu(device);
  title_->setText(text(info.name));
  subtitle_->setText(tr("%1 in %2").arg(text(gpu.name), text(cluster.groups()[info.group].name)));
  std::vector<Fact> facts = {
      {tr("Peak rate (FP32)"),
       style::flops(gpu.peak_flops[static_cast<std::size_t>(Precision::Fp32)]) +
           QStringLiteral("/s"),
       text(gpu.sources)},
      {tr("Memory bandwidth"), style::bandwidth(gpu.memory_bandwidth), text(gpu.sources)},
  };
  if (snapshot.outcome) {
    const DeviceUse& use = snapshot.outcome->timeline->devices[device];
    facts.push_back({tr("Memory"), style::bytes_of(use.peak, use.capacity), {}, !use.fits()});
    facts.push_back({tr("Peak at"), style::time(use.peak_at), {}});
    facts.push_back({tr("Always there"), style::bytes(use.resident),
                     tr("Parameters, optimizer state, constants, the input batch")});
    show_times(*snapshot.outcome->timeline, device);
    show_memory(*snapshot.outcome->timeline, device);
  }
  facts_->show_facts(facts);
}

void DevicePage::show_times(const Timeline& timeline, DeviceId device) {
  const bool dark = style::is_dark(palette());
  const DeviceTimes times = device_times(timeline)[device];
  const auto bar = [&](const QString& label, Nanos time, const QColor& colour, bool hatched) {
    const double fraction = timeline.step_time.value ? time / timeline.step_time : 0;
    return Bar{label, share_text(fraction), style::time(time), fraction, colour, hatched, -1};
  };
  QColor idle = style::muted_text(palette());
  idle.setAlphaF(0.4f);
  times_->show_bars({
      bar(tr("Computes"), times.compute, style::kind_colour(TaskKind::Compute, dark), false),
      bar(tr("Only communicates"), times.communication,
          style::kind_colour(TaskKind::AllReduce, dark), true),
      bar(tr("Waits"), times.idle, idle, false),
      bar(tr("Communicates while computing"), times.overlapped,
          style::kind_colour(TaskKind::Transfer, dark), true),
  });
}

void DevicePage::show_memory(const Timeline& timeline, DeviceId device) {
  const QColor colour =
      style::device_colour(*timeline.program->cluster, device, style::is_dark(palette()));
  const MemoryReport report =
      memory_report(timeline, device, session_.snapshot().problem->grouping.get());
  const Bytes whole = std::max({report.peak, report.capacity, Bytes(1)});
  std::vector<Bar> roles;
  for (std::size_t role = 0; role < report.by_role.size(); ++role) {
    const Bytes held = report.by_role[role];
    if (held.value == 0) continue;
    roles.push_back(
        {QCoreApplication::translate("Explanation", label_of(static_cast<TensorRole>(role))),
         style::bytes(held) + QStringLiteral("   ") +
             share_text(report.peak.value > 0 ? held / report.peak : 0),
         tr("Share of the peak; the bar is of the device's memory"), held / whole, colour, false,
         -1});
  }
  std::stable_sort(roles.begin(), roles.end(),
                   [](const Bar& a, const Bar& b) { return a.fraction > b.fraction; });
  roles_->show_bars(std::move(roles));
  std::vector<Bar> tensors;
  const Program& program = *timeline.program;
  for (const MemoryReport::Held& held : report.largest) {
    const Tensor& tensor = program.graph->tensor(held.tensor);
    QString tip = QCoreApplication::translate("Explanation", label_of(tensor.role));
    if (held.resident) tip += tr(", always there");
    if (held.made_by.valid()) tip += tr("\nmade by ") + text(program.task_name(held.made_by));
    if (held.held_for.valid()) {
      tip += tr("\nheld for ") + text(program.task_name(held.held_for));
    }
    tensors.push_back(
        {text(tensor.name), style::bytes(held.bytes), tip, held.bytes / whole, colour, false, -1});
  }
  tensors_->show_bars(std::move(tensors));
  advice_->setText(bullets(report.advice));
  advice_->setVisible(!report.advice.empty());
}

void DevicePage::show_link(LinkId link) {
  const Snapshot& snapshot = session_.snapshot();
  const Link& info = snapshot.problem->cluster->links()[link];
  title_->setText(text(info.name));
  subtitle_->setText(tr("Link, one direction"));
  facts_->show_facts({{tr("Bandwidth"), style::bandwidth(info.bandwidth), {}},
                      {tr("Latency"), style::time(info.latency), {}}});
  if (!snapshot.outcome) return;
  const Timeline& timeline = *snapshot.outcome->timeline;
  const Nanos busy = timeline.link_busy[link];
  const double fraction = timeline.step_time.value ? busy / timeline.step_time : 0;
  times_->show_bars(
      {{tr("Busy"), share_text(fraction), style::time(busy), fraction,
        style::kind_colour(TaskKind::Transfer, style::is_dark(palette())), true, -1}});
}

}  // namespace strato
