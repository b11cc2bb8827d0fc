// What will run where: a row for each rank, and what to know before.
#pragma once

#include <QWidget>

#include "views/models/launch_preview.h"
#include "views/models/session.h"

class QLabel;
class QTableWidget;

namespace strato {

class RankPage : public QWidget {
  Q_OBJECT
 public:
  explicit RankPage(Session& session, QWidget* parent = nullptr);
  // `peaks`: measured, by rank; empty without a launch of the plan shown.
  void show_preview(const LaunchPreview& preview, const std::vector<Bytes>& peaks = {});

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void recolour();

  Session& session_;
  QLabel* warnings_;
  QTableWidget* table_;
  LaunchPreview preview_;
  std::vector<Bytes> peaks_;
  QLabel* hint_;
};

}  // namespace strato
