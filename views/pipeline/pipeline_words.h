// What the Pipeline view says, as plain text. Stages and micro-batches are counted from 1, as
// everywhere in the window; the names of cells in schedule files ("1B3") count from 0. Pure.
#pragma once

#include <QString>

#include "views/pipeline/pipeline_picture.h"

namespace strato {

QString words_of(PassKind pass);  // "forward pass"
QString words_of(const ScheduleCell& cell, const StagePlan& plan);
// "Stage 2", and the devices that it stands for: "v100:4 and 3 alike".
QString stage_name(std::int32_t stage);
QString devices_words(const StageRow& row, const Cluster& cluster);

QString cause_words(const StageBubble& bubble, const StageRow& row, const StagePlan& plan);
QString short_cause(const StageBubble& bubble, const StageRow& row);  // a word or two, for labels

// "1f1b · 4 stages · 8 micro-batches", and what its bubble is and would be.
QString shape_words(const PipelinePicture& picture);
QString bubble_words(const PipelinePicture& picture);
QString price_words(const PipelinePrice& price);
// "182 → 170 ms (−6.6 %), bubble 31 → 27 %, fullest device 9.1 → 9.4 of 16 GB".
QString change_words(const PipelinePrice& before, const PipelinePrice& after);
// What the cell at this position (1: the first) does, and what waits meanwhile.
QString story_of(const PipelinePicture& picture, std::size_t position);

}  // namespace strato
