// What is selected, in full: groups (editable), a task, a device or link; else the strategy as a
// whole.
#pragma once

#include <QWidget>

#include "views/models/session.h"

class QStackedWidget;
class QTimer;

namespace strato {

class DevicePage;
class GroupPage;
class SuggestionBox;
class SummaryPage;
class TaskPage;

class InspectorView : public QWidget {
  Q_OBJECT
 public:
  explicit InspectorView(Session& session, QWidget* parent = nullptr);
  SuggestionBox& suggestions() { return *suggestions_; }

 protected:
  void changeEvent(QEvent* event) override;

 private:
  QWidget* scrolled(QWidget* page);
  void refresh();  // soon: several signals make one update

  Session& session_;
  QStackedWidget* stack_;
  QTimer* timer_;
  SummaryPage* summary_;
  GroupPage* group_;
  TaskPage* task_;
  DevicePage* device_;
  SuggestionBox* suggestions_;
};

}  // namespace strato
