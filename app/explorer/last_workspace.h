// Remembers in the user's settings which workspace was open, so that the next start goes on there;
// one whose opening never came to an end is not tried again by itself.
#pragma once

#include <QObject>
#include <QString>

#include "views/models/session.h"

namespace strato {

class LastWorkspace : public QObject {
  Q_OBJECT
 public:
  // `session` must outlive this.
  explicit LastWorkspace(Session& session, QObject* parent = nullptr);

  // Empty: there is none, it is gone, or its last opening did not end (`trouble` then says so).
  static QString to_reopen(QString& trouble);
  void begins(const QString& file);  // it is about to be opened again
  void ends_when_idle();             // nothing of it is on its way any more
  void ends();                       // whatever is on its way: the window is closed
  // Opened because the last one was refused: it does not take its place.
  void stands_in(const QString& file);

 signals:
  void another(const QString& file);  // is open now

 private:
  void look();

  Session& session_;
  QString file_, stand_in_;
};

}  // namespace strato
