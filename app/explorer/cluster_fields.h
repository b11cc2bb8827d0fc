// A cluster by a few fields: how many machines of how many of which GPU, and by which network. They
// make a name ("h100-8x8", core/cluster/read/equal_machines.h), which can be written instead, as
// can the name of a sample or a file. A sentence below says what the cluster is, or what is wrong.
#pragma once

#include <QWidget>
#include <cstdint>
#include <optional>

#include "core/cluster/read/equal_machines.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QSpinBox;

namespace strato {

class ClusterFields : public QWidget {
  Q_OBJECT
 public:
  explicit ClusterFields(QWidget* parent = nullptr);

  // What Session::open_cluster() takes: a file or a name. Empty: there is no such cluster.
  QString cluster() const { return cluster_; }
  std::optional<std::int64_t> devices() const { return devices_; }  // nothing: a file has them
  void set_cluster(const QString& name);                            // also a file's
  // Of equal machines; what is not given stays as it is.
  void set_size(std::optional<std::int64_t> machines, std::optional<std::int64_t> gpus);
  void focus_name();

 signals:
  void changed();

 private:
  void build();
  void fill_gpus();
  EqualMachines in_fields() const;
  void show_in_fields(const EqualMachines& machines);
  void take_fields();
  void take_gpu();
  void take_name();
  void describe(const EqualMachines& machines);

  QSpinBox *machines_, *gpus_;
  QComboBox *gpu_, *network_;
  QLineEdit* name_;
  QLabel* note_;
  QString cluster_;
  std::optional<std::int64_t> devices_;
};

}  // namespace strato
