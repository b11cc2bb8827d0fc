// Fonts, images and widgets need an application; every benchmark of one binary shares it.
#pragma once

#include <QApplication>

namespace strato {

inline void need_gui_application() {
  static int count = 1;
  static char name[] = "bench";
  static char* arguments[] = {name, nullptr};
  if (qGuiApp) return;
  qputenv("QT_QPA_PLATFORM", "offscreen");
  new QApplication(count, arguments);  // lives until the end: statics of Qt go before it would
}

}  // namespace strato
