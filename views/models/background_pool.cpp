#include "views/models/background_pool.h"

#include <QCoreApplication>
#include <QThreadPool>

namespace strato {

QThreadPool* background_pool() {
  static QThreadPool pool;
  [[maybe_unused]] static const bool waits = [] {
    qAddPostRoutine([] { pool.waitForDone(); });
    return true;
  }();
  return &pool;
}

}  // namespace strato
