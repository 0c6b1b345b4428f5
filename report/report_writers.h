// Every format that a report can be written in; one writer per format.
#pragma once

#include "report/json_writer.h"
#include "report/text_writer.h"
