#include "views/graph/overlay.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <set>

#include "views/style/mixed.h"
#include "views/style/style.h"
#include "views/style/text.h"

namespace strato {
namespace {

constexpr int kRampSteps = 24;
constexpr double kLeastShare = 0.001;  // a smaller share is not shown

QString translated(const char* text) { return QCoreApplication::translate("Overlay", text); }

// One hue, even in lightness, from near the ground: little must not shout.
QColor even_ramp(double part, bool dark) {
  const QColor little(dark ? 0x2b2835 : 0xf3f1f8), half(dark ? 0x6f5f9e : 0xa59bc8),
      much(dark ? 0xd3c2ff : 0x4a1f86);
  return part < 0.5 ? mixed(little, half, 2 * part) : mixed(half, much, 2 * part - 1);
}

std::int64_t figure(Overlay overlay, const OpFigures& figures, OpId op) {
  switch (overlay) {
    case Overlay::Time:
      return figures.compute[op];
    case Overlay::Memory:
      return figures.memory[op];
    case Overlay::Communication:
      return figures.communication[op];
    case Overlay::Blame:
      return figures.blame[op];
    case Overlay::SinceEdit:
    case Overlay::AgainstBaseline:
    case Overlay::AgainstPlan:
      return figures.compute[op] + figures.communication[op];
    default:
      return 0;
  }
}

}  // namespace

QString label_of(Overlay overlay) {
  switch (overlay) {
    case Overlay::Device:
      return translated("Device");
    case Overlay::Phase:
      return translated("Phase");
    case Overlay::Time:
      return translated("Time");
    case Overlay::Memory:
      return translated("Memory");
    case Overlay::Communication:
      return translated("Communication");
    case Overlay::Blame:
      return translated("Waiting caused");
    case Overlay::SinceEdit:
      return translated("Since last edit");
    case Overlay::AgainstPlan:
      return translated("To another plan");
    case Overlay::Attention:
      return translated("Attention");
    default:
      return translated("To data parallel");
  }
}

QString meaning_of(Overlay overlay) {
  switch (overlay) {
    case Overlay::Device:
      return translated("Where each group runs");
    case Overlay::Phase:
      return translated("Forward, loss, backward or update");
    case Overlay::Time:
      return translated("Computing, summed over the devices");
    case Overlay::Memory:
      return translated("Bytes made and kept, summed over the devices");
    case Overlay::Communication:
      return translated("Moving what it makes, summed over the devices");
    case Overlay::Blame:
      return translated("How long devices idle until it is done");
    case Overlay::SinceEdit:
      return translated("Busy time on all devices, against the strategy before the last edit");
    case Overlay::AgainstPlan:
      return translated(
          "Busy time on all devices, against the plan chosen in Compare, and what is "
          "decided otherwise");
    case Overlay::Attention:
      return translated("Where the policy of gdp looks when it places what is selected");
    default:
      return translated("Busy time on all devices, against data parallelism");
  }
}

bool is_quantity(Overlay overlay) {
  return overlay != Overlay::Device && overlay != Overlay::Phase;
}

bool is_of_outcome(Overlay overlay) {
  return is_quantity(overlay) && overlay != Overlay::Attention;
}

bool is_change(Overlay overlay) {
  return overlay == Overlay::SinceEdit || overlay == Overlay::AgainstBaseline ||
         overlay == Overlay::AgainstPlan;
}

std::vector<double> sums_over_ops(const GraphContent& content, const Grouping& grouping,
                                  const std::vector<double>& by_op) {
  std::vector<double> sums;
  for (const GraphNode& node : content.nodes) {
    double sum = 0;
    for (const OpId op : ops_of(node, grouping)) sum += by_op.at(op.index());
    sums.push_back(sum);
  }
  return sums;
}

std::vector<double> overlay_values(const GraphContent& content, const Grouping& grouping,
                                   Overlay overlay, const OpFigures& now, const OpFigures* before) {
  std::vector<double> values;
  for (const GraphNode& node : content.nodes) {
    std::int64_t sum = 0;
    for (const OpId op : ops_of(node, grouping)) {
      sum += figure(overlay, now, op);
      if (before && is_change(overlay)) sum -= figure(overlay, *before, op);
    }
    values.push_back(static_cast<double>(sum));
  }
  return values;
}

QString overlay_value_text(Overlay overlay, double value) {
  if (overlay == Overlay::Attention)
    return value > 0 && value < kLeastShare ? QStringLiteral("<") + style::percent(kLeastShare)
                                            : style::percent(value);
  if (overlay == Overlay::Memory) return style::bytes(Bytes(std::llround(value)));
  const QString sign = is_change(overlay) && value > 0 ? QStringLiteral("+") : QString();
  return sign + style::time(Nanos(std::llround(value)));
}

QColor overlay_colour(Overlay overlay, double value, double most, bool dark) {
  const double part = most > 0 ? std::clamp(value / most, -1.0, 1.0) : 0;
  if (!is_change(overlay)) return even_ramp(part, dark);
  const QColor less(dark ? 0x56b4e9 : 0x0072b2), more(dark ? 0xe8a33d : 0xc66a00);
  const QColor none(dark ? 0x3c4043 : 0xf1f3f4);
  return mixed(none, part < 0 ? less : more, std::abs(part));
}

Legend legend_for(Overlay overlay, const GraphContent& content,
                  const std::vector<std::vector<PlacementStripe>>& stripes, const Cluster* cluster,
                  double most, bool dark) {
  Legend legend;
  legend.title = label_of(overlay);
  if (overlay == Overlay::Device && cluster) {
    std::set<DeviceGroupId> used;
    for (const auto& node : stripes) {
      for (const PlacementStripe& stripe : node) used.insert(stripe.device_group);
    }
    for (const DeviceGroupId id : used)
      legend.entries.push_back(
          {style::device_group_colour(*cluster, id, dark), text(cluster->groups()[id].name)});
  } else if (overlay == Overlay::Phase) {
    for (std::size_t p = 0; p < std::tuple_size_v<decltype(GraphNode::phases)>; ++p) {
      const auto phase = static_cast<Phase>(p);
      if (std::ranges::any_of(content.nodes, [&](const GraphNode& n) { return n.phases[p] > 0; }))
        legend.entries.push_back({style::phase_colour(phase, dark), text(name_of(phase))});
    }
  } else if (is_quantity(overlay)) {
    for (int i = 0; i <= kRampSteps; ++i) {
      const double part = static_cast<double>(i) / kRampSteps;
      legend.ramp.push_back(
          overlay_colour(overlay, is_change(overlay) ? 2 * part - 1 : part, 1, dark));
    }
    legend.least = is_change(overlay) ? overlay_value_text(overlay, -most) : QStringLiteral("0");
    legend.most = overlay_value_text(overlay, most);
  }
  return legend;
}

}  // namespace strato
