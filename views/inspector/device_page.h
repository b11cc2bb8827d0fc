// The selected device (or link): how busy it is, and what fills its memory at the peak.
#pragma once

#include <QWidget>

#include "views/models/session.h"

class QLabel;

namespace strato {

class BarList;
class Facts;

class DevicePage : public QWidget {
  Q_OBJECT
 public:
  explicit DevicePage(Session& session, QWidget* parent = nullptr);
  void refresh();

 private:
  void show_device(DeviceId device);
  void show_link(LinkId link);
  void show_times(const Timeline& timeline, DeviceId device);
  void show_memory(const Timeline& timeline, DeviceId device);

  Session& session_;
  QLabel *title_, *subtitle_, *time_heading_, *role_heading_, *tensor_heading_, *advice_;
  Facts* facts_;
  BarList *times_, *roles_, *tensors_;
};

}  // namespace strato
