#include "views/cluster/cluster_layout.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

namespace strato {
namespace {

constexpr double kDeviceWidth = 92, kDeviceHeight = 64, kGap = 8, kPad = 12, kTitle = 24;
constexpr double kWire = 36;  // room for the wires between devices and fabric
constexpr double kFabric = 8, kMachineGap = 24, kRowGap = 64, kTrunk = 24;
constexpr int kMostInRow = 8;
constexpr double kPairApart = 5;  // px between the two directions

template <class Key, class T>
std::unordered_map<std::string_view, Key> by_name(const IdVector<Key, T>& values) {
  std::unordered_map<std::string_view, Key> result;
  for (const Key key : values.ids()) result.emplace(values[key].name, key);
  return result;
}

class Layout {
 public:
  Layout(const Cluster& cluster, double width) : cluster_(cluster), width_(width) {
    devices_of_.resize(cluster.machines().size());
    for (const DeviceId device : cluster.devices().ids())
      devices_of_[cluster.device(device).machine].push_back(device);
  }

  ClusterLayout run() {
    several_ = cluster_.machines().size() > 1;
    layout_.devices.resize(cluster_.device_count());
    place_machines();
    for (std::size_t l = 0; l < cluster_.links().size(); ++l) add_link(LinkId(l));
    for (const QRectF& box : layout_.machines) layout_.bounds |= box;
    for (const QLineF& bus : layout_.buses)
      layout_.bounds |= QRectF(bus.p1(), bus.p2()).normalized().adjusted(0, 0, 1, 1);
    layout_.bounds.adjust(-kPad, -kPad, kPad, kPad);
    return std::move(layout_);
  }

 private:
  // "v100:0>fabric" -> {"v100:0", "fabric"}
  static std::pair<std::string, std::string> ends(const std::string& name) {
    const std::size_t at = name.find('>');
    if (at == std::string::npos) return {name, {}};
    return {name.substr(0, at), name.substr(at + 1)};
  }

  template <class Key>
  static Key find(const std::unordered_map<std::string_view, Key>& known, std::string_view name) {
    const auto at = known.find(name);
    return at == known.end() ? Key() : at->second;
  }

  void place_machines() {
    double x = several_ ? kTrunk : 0, y = 0, row_height = 0;
    const double left = x;
    std::vector<double> bus_y;
    for (std::size_t m = 0; m < cluster_.machines().size(); ++m) {
      const QSizeF size = machine_size(MachineId(m));
      if (x > left && x + size.width() > width_ - kPad) {
        end_row(y, row_height);
        x = left;
        y += row_height + kRowGap;
        row_height = 0;
      }
      place_machine(MachineId(m), QRectF(QPointF(x, y), size));
      x += size.width() + kMachineGap;
      row_height = std::max(row_height, size.height());
    }
    end_row(y, row_height);
    if (!several_) return;
    double right = 0;
    for (const QRectF& box : layout_.machines) right = std::max(right, box.right());
    for (const double bus : buses_) layout_.buses.push_back(QLineF(0, bus, right, bus));
    if (buses_.size() > 1) layout_.buses.push_back(QLineF(0, buses_.front(), 0, buses_.back()));
  }

  void end_row(double y, double height) { buses_.push_back(y + height + kRowGap * 0.6); }

  QSizeF machine_size(MachineId machine) const {
    const int count = std::max(1, static_cast<int>(devices_of_[machine].size()));
    const int columns = std::min(count, kMostInRow), rows = (count + columns - 1) / columns;
    const double wide = columns * kDeviceWidth + (columns - 1) * kGap + 2 * kPad;
    return {std::max(wide, 2 * kDeviceWidth + kGap + 2 * kPad),
            kTitle + rows * (kDeviceHeight + kWire) + kFabric + kPad};
  }

  void place_machine(MachineId machine, const QRectF& box) {
    layout_.machines.push_back(box);
    row_of_.push_back(buses_.size());
    layout_.fabrics.push_back(
        QRectF(box.left() + kPad, box.bottom() - kPad - kFabric, box.width() - 2 * kPad, kFabric));
    int index = 0;
    const int columns =
        std::min(std::max(1, static_cast<int>(devices_of_[machine].size())), kMostInRow);
    for (const DeviceId device : devices_of_[machine]) {
      const double x = box.left() + kPad + (index % columns) * (kDeviceWidth + kGap);
      const double y = box.top() + kTitle + (index / columns) * (kDeviceHeight + kWire);
      layout_.devices[device.index()] = QRectF(x, y, kDeviceWidth, kDeviceHeight);
      ++index;
    }
  }

  void add_link(LinkId id) {
    const auto [from, to] = ends(cluster_.links()[id].name);
    const DeviceId sender = find(device_named_, from), receiver = find(device_named_, to);
    if (sender.valid())
      return to == "net" ? add_rail(id, sender, true) : add_port(id, sender, to, true);
    if (receiver.valid())
      return from == "net" ? add_rail(id, receiver, false) : add_port(id, receiver, from, false);
    const MachineId machine_from = find(machine_named_, from),
                    machine_to = find(machine_named_, to);
    if (machine_from.valid() && machine_to.valid()) return add_direct(id, machine_from, machine_to);
    if (machine_from.valid()) return add_nic(id, machine_from, true);
    if (machine_to.valid()) return add_nic(id, machine_to, false);
    add_switch(id);
  }

  // A device's way to the fabric on its left half, to the host on its right half; up and down side
  // by side.
  void add_port(LinkId id, DeviceId device, const std::string& other, bool up) {
    const QRectF& box = layout_.devices[device.index()];
    const QRectF& fabric = layout_.fabrics[cluster_.device(device).machine.index()];
    const double at = box.left() + box.width() * (other == "host" ? 0.62 : 0.12);
    const double x = at + (up ? -kPairApart : kPairApart);
    QPolygonF line({QPointF(x, box.bottom()), QPointF(x, fabric.top())});
    if (!up) std::reverse(line.begin(), line.end());
    const QPointF label = up ? QPointF(at + 2 * kPairApart, box.bottom() + kWire / 2) : QPointF();
    layout_.links.push_back({id, line, label});
  }

  void add_nic(LinkId id, MachineId machine, bool up) {
    add_way_out(id, machine, layout_.machines[machine.index()].left() + 32, up);
  }

  // A network card of the device's own, under its way to the host. Those of devices in further rows
  // are beside them.
  void add_rail(LinkId id, DeviceId device, bool up) {
    const MachineId machine = cluster_.device(device).machine;
    const QRectF &box = layout_.devices[device.index()],
                 &of_machine = layout_.machines[machine.index()];
    const double row = (box.top() - of_machine.top() - kTitle) / (kDeviceHeight + kWire);
    add_way_out(id, machine, box.left() + box.width() * 0.62 - row * 6 * kPairApart, up);
  }

  void add_way_out(LinkId id, MachineId machine, double at, bool up) {
    const double bus = buses_[row_of_[machine.index()]];
    const double x = at + (up ? -kPairApart : kPairApart);
    QPolygonF line({QPointF(x, layout_.fabrics[machine.index()].bottom()), QPointF(x, bus)});
    if (!up) std::reverse(line.begin(), line.end());
    const double below = layout_.machines[machine.index()].bottom() + 14;
    layout_.links.push_back({id, line, up ? QPointF(at + 2 * kPairApart, below) : QPointF()});
  }

  // A link of its own between two machines: in the gutter under the machines, each pair on its own
  // level.
  void add_direct(LinkId id, MachineId from, MachineId to) {
    const QRectF &a = layout_.machines[from.index()], &b = layout_.machines[to.index()];
    const bool forward = from < to;
    const double level = 10 + 6 * (direct_++ % 6);
    const double xa = a.right() - 24 - (forward ? 0 : 8), xb = b.right() - 56 - (forward ? 0 : 8);
    QPolygonF line({QPointF(xa, a.bottom()), QPointF(xa, a.bottom() + level),
                    QPointF(xb, a.bottom() + level), QPointF(xb, b.bottom())});
    layout_.links.push_back(
        {id, line, forward ? QPointF((xa + xb) / 2, a.bottom() + level - 8) : QPointF()});
  }

  // The switch that all traffic shares is the first bus.
  void add_switch(LinkId id) {
    if (buses_.empty()) return;
    const double y = buses_.front();
    layout_.links.push_back(
        {id, QPolygonF({QPointF(0, y), QPointF(layout_.machines.front().right(), y)}),
         QPointF(layout_.machines.front().right() - 60, y + 10)});
  }

  const Cluster& cluster_;
  double width_;
  std::unordered_map<std::string_view, DeviceId> device_named_ = by_name(cluster_.devices());
  std::unordered_map<std::string_view, MachineId> machine_named_ = by_name(cluster_.machines());
  IdVector<MachineId, std::vector<DeviceId>> devices_of_;
  bool several_ = false;
  ClusterLayout layout_;
  std::vector<double> buses_;        // y, per row of machines
  std::vector<std::size_t> row_of_;  // per machine
  int direct_ = 0;
};

}  // namespace

ClusterLayout layout_cluster(const Cluster& cluster, double width) {
  return Layout(cluster, width).run();
}

double link_width(double bytes_per_second) {
  return std::clamp(1 + 1.8 * std::log10(std::max(1.0, bytes_per_second / 1e9)), 1.0, 7.0);
}

}  // namespace strato
