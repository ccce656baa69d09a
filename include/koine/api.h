/* What libkoine exports: declarations marked KOINE_API, and nothing else. */
#ifndef KOINE_API_H
#define KOINE_API_H

#if defined(__GNUC__)
#define KOINE_API __attribute__((visibility("default")))
#else
#define KOINE_API
#endif

#endif
