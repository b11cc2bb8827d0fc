// One of the numbers that tell how the devices of the selected groups share their work (MeshRoles):
// one edit for each choice, among those that all of the groups can have.
#pragma once

#include <QWidget>
#include <vector>

#include "views/models/session.h"
#include "views/models/strategy_edits.h"

class QComboBox;

namespace strato {

class EditPreview;

class RoleField : public QWidget {
  Q_OBJECT
 public:
  // `preview`: told what the choice under the cursor would do; outlives the field.
  RoleField(MeshRole role, Session& session, EditPreview& preview, QWidget* parent = nullptr);
  void refresh();  // the selection or the strategy has changed
  QComboBox& choice() { return *choice_; }

 protected:
  void enterEvent(QEnterEvent* event) override;  // a list over it is closed
  void leaveEvent(QEvent* event) override;

 private:
  void choose(int index);
  Strategy chosen(int index) const;
  bool concerns_selection() const;

  const MeshRole role_;
  Session& session_;
  EditPreview& preview_;
  QComboBox* choice_;
  std::vector<std::int32_t> numbers_;  // by item
};

}  // namespace strato
