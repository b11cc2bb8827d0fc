// The matrix's header: the name of each column above its sum, device groups marked with their
// colour.
#pragma once

#include <QHeaderView>

#include "views/models/session.h"

namespace strato {

class PlacementHeader : public QHeaderView {
  Q_OBJECT
 public:
  PlacementHeader(Session& session, QWidget* parent);
  QSize sizeHint() const override;

 protected:
  void paintSection(QPainter* painter, const QRect& rect, int section) const override;

 private:
  Session& session_;
};

}  // namespace strato
