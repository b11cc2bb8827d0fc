// The words of the window in the language of who uses it: *.qm files, made of the sources by Qt's
// lupdate and lrelease. No file: English.
#pragma once

#include <QString>
#include <QStringList>

class QLocale;

namespace strato {

// Where they are looked for: the user's own, beside the program, with its resources.
QStringList translation_folders();

// stratoscope_de_AT.qm, else stratoscope_de.qm of the first folder that has one, and Qt's own words
// for it. Before any widget is made. False: there is none, the words stay English.
bool install_translation(const QLocale& locale, const QStringList& folders = translation_folders());

}  // namespace strato
