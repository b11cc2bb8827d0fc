#include "views/workspace/placement_picture.h"

#include <algorithm>

#include "core/strategy/file/named_strategy.h"
#include "views/style/style.h"

namespace strato {
namespace {

struct PictureCell {
  float share = 0;  // of the largest in its group; 0: not there
  bool servers = false;
};
using PictureColumn = std::vector<PictureCell>;  // by device

PictureColumn column_of(const NamedGroup& group, const Cluster& cluster) {
  PictureColumn column(cluster.device_count());
  if (group.devices.empty()) {  // undecided
    for (PictureCell& cell : column) cell.share = 0.2f;
    return column;
  }
  std::int32_t most = 1;
  for (const auto& [name, weight] : group.devices) most = std::max(most, weight);
  const auto take = [&](DeviceId device, std::int32_t weight) {
    PictureCell& cell = column[device.index()];
    cell.share = std::max(0.3f, static_cast<float>(weight) / static_cast<float>(most));
    cell.servers = group.mode == Mode::ReplicatePs;
  };
  for (const auto& [name, weight] : group.devices) {
    if (weight <= 0) continue;
    const DeviceId device = cluster.find_device(name);
    const DeviceGroupId all = cluster.find_group(name);
    if (device.valid()) {
      take(device, weight);
    } else if (all.valid()) {
      for (const DeviceId one : cluster.groups()[all].devices) take(one, weight);
    }
  }
  return column;
}

struct PixelRange {
  std::size_t begin, end;
};
// What a pixel of `size` stands for among `count` things: at least one.
PixelRange behind(int pixel, int size, std::size_t count) {
  const auto at = static_cast<std::size_t>(pixel), all = static_cast<std::size_t>(size);
  const std::size_t begin = at * count / all;
  return {begin, std::max(begin + 1, (at + 1) * count / all)};
}

}  // namespace

QImage placement_picture(const NamedStrategy& strategy, const Cluster& cluster, const QSize& size,
                         bool dark) {
  const std::size_t devices = cluster.device_count();
  if (size.isEmpty() || devices == 0) return {};
  std::vector<PictureColumn> columns;
  for (const NamedGroup& group : strategy.groups) columns.push_back(column_of(group, cluster));
  if (columns.empty()) columns.push_back(column_of({}, cluster));
  const QColor ground(dark ? 0x2b2c30 : 0xececec);
  QImage picture(size, QImage::Format_RGB32);
  picture.fill(ground);
  const bool gaps = static_cast<std::size_t>(size.height()) >= 4 * devices;
  for (int x = 0; x < size.width(); ++x) {
    const PixelRange groups = behind(x, size.width(), columns.size());
    for (int y = 0; y < size.height(); ++y) {
      const PixelRange rows = behind(y, size.height(), devices);
      const bool last =
          y + 1 == size.height() || behind(y + 1, size.height(), devices).begin != rows.begin;
      if (gaps && last) continue;
      PictureCell most;
      std::size_t device = rows.begin;
      for (std::size_t g = groups.begin; g < groups.end; ++g) {
        for (std::size_t d = rows.begin; d < rows.end; ++d) {
          if (columns[g][d].share <= most.share) continue;
          most = columns[g][d];
          device = d;
        }
      }
      if (most.share <= 0 || (most.servers && ((x / 2 + y / 2) % 2) != 0)) continue;
      const QColor colour = style::device_colour(cluster, DeviceId(device), dark);
      const float over = most.share, under = 1 - most.share;
      picture.setPixelColor(x, y,
                            QColor::fromRgbF(colour.redF() * over + ground.redF() * under,
                                             colour.greenF() * over + ground.greenF() * under,
                                             colour.blueF() * over + ground.blueF() * under));
    }
  }
  return picture;
}

}  // namespace strato
