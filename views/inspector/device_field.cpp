#include "views/inspector/device_field.h"

#include <QMenu>
#include <QStringList>
#include <algorithm>

#include "views/style/text.h"

namespace strato {

DeviceField::DeviceField(const QString& automatic, Of of, QWidget* parent)
    : QToolButton(parent), automatic_(automatic), of_(of) {
  setPopupMode(QToolButton::InstantPopup);
  setToolButtonStyle(Qt::ToolButtonTextOnly);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  auto* menu = new QMenu(this);
  setMenu(menu);
  connect(menu, &QMenu::aboutToHide, this, &DeviceField::left);
  clear();
}

void DeviceField::clear() {
  menu()->clear();
  of_device_.clear();
  chosen_.clear();
  cluster_.reset();
  setText(tr("none"));
}

std::vector<DeviceId> DeviceField::with(std::size_t device) const {
  std::vector<DeviceId> result = chosen_;
  const DeviceId turned(device);
  if (std::erase(result, turned) > 0) return result;
  if (of_ == Of::EachMachine)
    std::erase_if(result,
                  [&](DeviceId other) { return machines_[other.index()] == machines_[device]; });
  result.insert(std::ranges::lower_bound(result, turned), turned);
  return result;
}

void DeviceField::show_devices(const std::shared_ptr<const Cluster>& cluster,
                               std::vector<DeviceId> chosen) {
  chosen_ = std::move(chosen);
  if (cluster_ != cluster) {
    const std::vector<DeviceId> devices = std::move(chosen_);
    clear();
    chosen_ = devices;
    cluster_ = cluster;
    machines_.clear();
    QAction* first = menu()->addAction(automatic_);
    connect(first, &QAction::triggered, this, [this] { emit this->chosen({}); });
    connect(first, &QAction::hovered, this, [this] { emit considered({}); });
    menu()->addSeparator();
    for (std::size_t d = 0; d < cluster->device_count(); ++d) {
      machines_.push_back(cluster->device(DeviceId(d)).machine);
      QAction* action = menu()->addAction(strato::text(cluster->device(DeviceId(d)).name));
      action->setCheckable(true);
      of_device_.push_back(action);
      connect(action, &QAction::triggered, this, [this, d] { emit this->chosen(with(d)); });
      connect(action, &QAction::hovered, this, [this, d] { emit considered(with(d)); });
    }
  }
  QStringList names;
  for (std::size_t d = 0; d < of_device_.size(); ++d)
    of_device_[d]->setChecked(std::ranges::binary_search(chosen_, DeviceId(d)));
  for (const DeviceId device : chosen_) names << strato::text(cluster->device(device).name);
  setText(names.empty()       ? tr("none")
          : names.size() <= 2 ? names.join(QStringLiteral(", "))
                              : tr("%n devices", nullptr, static_cast<int>(names.size())));
}

}  // namespace strato
