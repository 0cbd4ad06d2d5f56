// A peer for measurement, a usual solution of both tasks: NestJS + passport-jwt + ioredis (session record) +
// argon2 (native), and a webhook receiver that queues on BullMQ in Redis.
import 'reflect-metadata';
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { BadRequestException, Body, Controller, ForbiddenException, Get, HttpCode, Injectable, Module, Post, Req, UnauthorizedException, UseGuards, ValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { JwtModule, JwtService } from '@nestjs/jwt';
import { AuthGuard, PassportModule, PassportStrategy } from '@nestjs/passport';
import type { NestExpressApplication } from '@nestjs/platform-express';
import argon2 from 'argon2';
import { Queue, Worker } from 'bullmq';
import { IsEmail, IsString, MinLength } from 'class-validator';
import { Redis } from 'ioredis';
import { ExtractJwt, Strategy } from 'passport-jwt';

const env = process.env;
const connection = { host: env.REDIS_HOST ?? '127.0.0.1', port: Number(env.REDIS_PORT ?? 6379) };
const redis = new Redis(connection);
const queue = new Queue('events', { connection, defaultJobOptions: { attempts: 5, backoff: { type: 'exponential', delay: 1000 }, removeOnComplete: 1000 } });
let done = 0;
if (env.WORK !== '0') new Worker('events', async () => { done++; }, { connection, concurrency: 50 });

class LoginDto { @IsEmail() email!: string; @IsString() @MinLength(6) password!: string; }

@Injectable() class JwtStrategy extends PassportStrategy(Strategy) {
  constructor() { super({ jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(), secretOrKey: env.JWT_SECRET!, ignoreExpiration: false }); }
  async validate(p: { sub: string; email: string; sid: string }) {
    if ((await redis.get(`session:${p.sub}`)) !== p.sid) throw new UnauthorizedException('Sesión invalidada. Inicia sesión de nuevo.');
    return { userId: p.sub, email: p.email };
  }
}

@Controller('auth') class AuthController {
  private readonly jwt: JwtService;
  constructor(jwt: JwtService) { this.jwt = jwt; }
  @Post('login') @HttpCode(200) async login(@Body() dto: LoginDto) {
    if (dto.email !== env.DEMO_EMAIL || !(await argon2.verify(env.DEMO_PASSWORD!, dto.password))) throw new UnauthorizedException('Credenciales inválidas');
    const sid = randomUUID();
    await redis.set('session:1', sid, 'EX', 900);
    return { accessToken: await this.jwt.signAsync({ sub: '1', email: dto.email, sid }) };
  }
  @UseGuards(AuthGuard('jwt')) @Post('logout') @HttpCode(200) async logout(@Req() r: any) { await redis.del(`session:${r.user.userId}`); return { ok: true }; }
  @UseGuards(AuthGuard('jwt')) @Get('me') me(@Req() r: any) { return r.user; }
}
Reflect.defineMetadata('design:paramtypes', [JwtService], AuthController);
Reflect.defineMetadata('design:paramtypes', [LoginDto], AuthController.prototype, 'login');

@Controller() class WebhookController {
  @Post('webhook') @HttpCode(200) async hook(@Req() r: any) {
    const sig = String(r.headers['x-signature'] ?? '').replace(/^sha256=/, '');
    const mac = createHmac('sha256', env.WEBHOOK_SECRET!).update(r.rawBody).digest();
    const got = Buffer.from(sig, 'hex');
    if (got.length !== mac.length || !timingSafeEqual(got, mac)) throw new ForbiddenException();
    const e = r.body; if (!e?.id) throw new BadRequestException();
    await queue.add(e.type ?? 'event', e, { jobId: e.id.replaceAll(':', '_') });
    return { ok: true };
  }
  @Get('done') n() { return { done }; }
}

@Module({ imports: [PassportModule, JwtModule.register({ secret: env.JWT_SECRET, signOptions: { expiresIn: '900s' } })], controllers: [AuthController, WebhookController], providers: [JwtStrategy] })
class AppModule {}

const app = await NestFactory.create<NestExpressApplication>(AppModule, { rawBody: true, logger: ['error'] });
app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true }));
await app.listen(Number(env.PORT ?? 3900), '127.0.0.1');
console.log('peer up');
