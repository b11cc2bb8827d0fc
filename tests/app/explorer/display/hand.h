// A hand at a real keyboard and mouse: events go through the X server, as a person's do.
#pragma once

#include <QString>
#include <QStringList>

class QWidget;

namespace strato {

// Each returns when the server has taken it; false, and says why, where that fails. Runs the event
// loop meanwhile.
bool xdotool(const QStringList& arguments);
void xdotool_later(const QStringList& arguments);  // does not wait, for dialogs that do not return
bool press(const QString& keys);                   // "ctrl+s", "F5"
bool click(const QWidget& widget);                 // in its middle
bool focus(const QWidget& window);                 // what a window manager would do

}  // namespace strato
